#include "threading/recording/flight_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/base/ticks.h"
#include "threading/recording/call_records.h"

namespace hycoll {
namespace {

using std::filesystem::directory_iterator;
using std::filesystem::path;

/// The memory files with records that a process has open.
std::vector<path> files_of(const path& process) {
  std::vector<path> files;
  std::error_code error;
  for (directory_iterator file(process / "fd", error), end; !error && file != end;
       file.increment(error)) {
    std::error_code unreadable;
    const path target = std::filesystem::read_symlink(file->path(), unreadable);
    if (target.string().starts_with(std::string("/memfd:") + kCallRecordsName)) {
      files.push_back(file->path());
    }
  }
  return files;
}

/// A file's bytes, as they are now.
class MappedFile {
 public:
  explicit MappedFile(const path& name) {
    const int file = open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat status {};
    if (fstat(file, &status) == 0 && status.st_size > 0) {
      bytes_ = static_cast<std::size_t>(status.st_size);
      begin_ = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file, 0);
    }
    close(file);
  }
  ~MappedFile() {
    if (is_there()) munmap(begin_, bytes_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  bool is_there() const { return begin_ != MAP_FAILED; }
  std::size_t bytes() const { return bytes_; }
  template <class Object>
  const Object& at(std::size_t offset) const {
    return *reinterpret_cast<const Object*>(static_cast<const std::byte*>(begin_) + offset);
  }

 private:
  void* begin_ = MAP_FAILED;
  std::size_t bytes_ = 0;
};

std::optional<MemberState> state_of(const MemberRecord& record) {
  MemberState state;
  state.communicator = record.communicator.load(std::memory_order_acquire);
  if (state.communicator == 0) return std::nullopt;
  state.rank = record.rank.load(std::memory_order_relaxed);
  state.size = record.size.load(std::memory_order_relaxed);
  for (const std::atomic<char>& letter : record.name) {
    const char c = letter.load(std::memory_order_relaxed);
    if (c == '\0') break;
    state.name += c;
  }
  // Until nothing has changed meanwhile, or often enough: then the oldest ones are mixed up.
  for (int attempt = 0; attempt < 4; ++attempt) {
    state.calls.clear();
    state.entered = record.entered.load(std::memory_order_acquire);
    const std::uint64_t left = record.left.load(std::memory_order_relaxed);
    state.is_inside = left < state.entered;
    const std::int64_t late = record.late_since_ns.load(std::memory_order_relaxed);
    state.late_s = late == 0 ? 0 : static_cast<double>(nanoseconds() - late) / 1e9;
    const std::uint64_t first =
        state.entered > MemberRecord::kCalls ? state.entered - MemberRecord::kCalls : 0;
    for (std::uint64_t number = first; number < state.entered; ++number) {
      const CallRecord& call = record.calls[number % MemberRecord::kCalls];
      const PackedSignature signature{.call = call.signature.load(std::memory_order_relaxed),
                                      .detail = call.detail.load(std::memory_order_relaxed)};
      state.calls.push_back({.call = call.call.load(std::memory_order_relaxed),
                             .signature = CallSignature::unpack(signature),
                             .site = call.site.load(std::memory_order_acquire)});
    }
    if (record.entered.load(std::memory_order_relaxed) == state.entered) break;
  }
  return state;
}

/// How a process knows itself, which may have numbers of its own; 0 if that is not known.
std::int64_t own_number_of(const path& process) {
  std::ifstream status(process / "status");
  std::string line;
  while (std::getline(status, line)) {
    if (!line.starts_with("NSpid:")) continue;
    return std::strtoll(line.c_str() + line.find_last_of(" \t"), nullptr, 10);
  }
  return 0;
}

}  // namespace

std::vector<pid_t> recorded_processes() {
  std::vector<pid_t> found;
  std::error_code error;
  for (directory_iterator process("/proc", error), end; !error && process != end;
       process.increment(error)) {
    const std::string name = process->path().filename();
    pid_t number = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) continue;
    if (!files_of(process->path()).empty()) found.push_back(number);
  }
  std::ranges::sort(found);
  return found;
}

std::vector<MemberState> read_members(pid_t process) {
  std::vector<MemberState> members;
  const path folder = path("/proc") / std::to_string(process);
  const std::int64_t own_number = own_number_of(folder);
  for (const path& name : files_of(folder)) {
    const MappedFile file(name);
    if (!file.is_there() || file.bytes() < sizeof(CallRecordsHeader)) continue;
    const auto& header = file.at<CallRecordsHeader>(0);
    const bool is_known =
        header.magic.load(std::memory_order_relaxed) == kCallRecordsMagic &&
        header.record_bytes.load(std::memory_order_relaxed) == sizeof(MemberRecord);
    // A process that has been forked may still have its parent's.
    if (!is_known || header.process.load(std::memory_order_relaxed) != own_number) continue;
    const std::uint64_t count = header.record_count.load(std::memory_order_acquire);
    for (std::size_t r = 0; r < count; ++r) {
      const std::size_t place = CallRecordsHeader::place_of(r);
      if (place + sizeof(MemberRecord) > file.bytes()) break;
      if (auto state = state_of(file.at<MemberRecord>(place))) members.push_back(*std::move(state));
    }
  }
  return members;
}

std::string MemberState::describe() const {
  const std::string on =
      name.empty() ? fmt::format("communicator {}", communicator) : std::string(name);
  if (calls.empty()) return fmt::format("has made no call on {} yet", on);
  const RecordedCall& last = calls.back();
  const std::string what = last.signature.describe();
  if (is_inside) return fmt::format("is in {} (call {} on {})", what, last.call, on);
  return fmt::format("is in no call on {}; the last one was {} (call {})", on, what, last.call);
}

}  // namespace hycoll
