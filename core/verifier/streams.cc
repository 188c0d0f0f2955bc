// The rules of streams, which let a FIFO of few slots carry several of them without anybody waiting
// for ever: everybody reads everything, and can read whatever comes next.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/verifier/structure.h"

namespace hycoll::verifier {
namespace {

/// What one worker writes to a stream or reads from it, in order.
struct Pieces {
  int strand = -1;
  int step = -1;  ///< The last one.
  std::vector<Span> spans;
};

class StreamCheck {
 public:
  explicit StreamCheck(const Schedule& schedule) : schedule_(schedule) {}

  std::optional<Finding> run() {
    auto finding = first_problem(schedule_, [&](const Step& step, const StepContext& context) {
      return add_step(step, context);
    });
    if (finding) return finding;
    finding = first_problem(schedule_, [&](const Step& step, const StepContext& context) {
      return check_reading_strand(step, context);
    });
    return finding ? finding : check_readers();
  }

 private:
  const Span* stream_of(std::span<const Span> spans) const {
    const auto found = std::ranges::find_if(spans, [&](const Span& span) {
      return schedule_.buffers[static_cast<std::size_t>(span.buffer)].role == BufferRole::stream;
    });
    return found == spans.end() ? nullptr : &*found;
  }

  Problem add_step(const Step& step, const StepContext& context) {
    const Span* written = stream_of(schedule_.destinations(step));
    const Span* read = stream_of(schedule_.sources(step));
    if (written == nullptr && read == nullptr) return {};
    if (written != nullptr && read != nullptr) return "copies from stream to stream";
    const Span& span = written != nullptr ? *written : *read;
    const int owner = schedule_.buffers[static_cast<std::size_t>(span.buffer)].owner;
    if (read != nullptr && owner == context.worker) return "reads a stream of its own worker";
    Pieces& pieces = pieces_[span.buffer][context.worker];
    if (pieces.strand >= 0 && pieces.strand != context.strand) {
      return fmt::format("touches stream {}, which its worker also touches in strand {}",
                         span.buffer, pieces.strand);
    }
    pieces.strand = context.strand;
    pieces.step = context.step;
    pieces.spans.push_back(span);
    if (read != nullptr) {
      const auto [reader, is_new] = stream_read_.try_emplace(context.strand, span.buffer);
      if (!is_new && reader->second != span.buffer) {
        return fmt::format("reads stream {} in a strand that reads stream {}", span.buffer,
                           reader->second);
      }
    }
    return {};
  }

  /// Until it has read its stream, a strand waits for nothing else.
  Problem check_reading_strand(const Step& step, const StepContext& context) const {
    const auto reader = stream_read_.find(context.strand);
    if (reader == stream_read_.end()) return {};
    if (context.step >= pieces_.at(reader->second).at(context.worker).step) return {};
    const bool reads = stream_of(schedule_.sources(step)) != nullptr;
    if (reads || step.kind == StepKind::signal) return {};
    return fmt::format("may keep stream {} waiting, which its strand still reads", reader->second);
  }

  std::optional<Finding> check_readers() const {
    const Shape& shape = schedule_.shape;
    for (const auto& [stream, workers] : pieces_) {
      const int owner = schedule_.buffers[static_cast<std::size_t>(stream)].owner;
      const int node = shape.node_of_worker(owner);
      const auto written = workers.find(owner);
      const std::vector<Span> all =
          written == workers.end() ? std::vector<Span>() : written->second.spans;
      for (int i = 0; i < shape.node(node).members; ++i) {
        const int worker = shape.first_worker(node) + i;
        if (worker == owner) continue;
        const auto read = workers.find(worker);
        const Pieces pieces = read == workers.end() ? Pieces() : read->second;
        if (pieces.spans == all) continue;
        return Finding{pieces.strand, pieces.step,
                       fmt::format("worker {} does not read stream {} as worker {} writes it",
                                   worker, stream, owner)};
      }
    }
    return {};
  }

  const Schedule& schedule_;
  std::map<int, std::map<int, Pieces>> pieces_;  // by stream and worker
  std::map<int, int> stream_read_;               // by strand
};

}  // namespace

std::optional<Finding> check_streams(const Schedule& schedule) {
  return StreamCheck(schedule).run();
}

}  // namespace hycoll::verifier
