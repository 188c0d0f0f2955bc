#include "tests/threading/mailbox_network.h"

#include <fmt/format.h>

#include <compare>
#include <cstring>
#include <list>
#include <map>
#include <mutex>

#include "core/base/errors.h"
#include "core/kernels/kernels.h"

namespace hycoll {
namespace {

constexpr int kTags = 1 << 20;

struct Address {
  int lane;
  int from;
  int to;
  int tag;
  friend auto operator<=>(const Address&, const Address&) = default;
};

struct Message {
  std::vector<std::byte> copy;   // eager
  const void* source = nullptr;  // rendezvous: the sender's own memory
  std::size_t size_bytes = 0;
  bool received = false;
};

struct Reception {
  Address address;
  void* destination;  // null: the message is dropped
  std::size_t size_bytes;
  std::size_t received_bytes = 0;
  bool received = false;
};

/// Messages and posted receptions of one address that have not met yet, in order; one of the lists
/// is empty.
struct Box {
  std::list<std::shared_ptr<Message>> messages;
  std::list<Reception*> receptions;
};

/// As MPI's progress does: hands messages to receptions as soon as both are there, whoever calls.
void match(Box& box) {
  while (!box.messages.empty() && !box.receptions.empty()) {
    Message& message = *box.messages.front();
    Reception& reception = *box.receptions.front();
    reception.received_bytes = message.size_bytes;
    if (reception.destination != nullptr && message.size_bytes == reception.size_bytes) {
      std::memcpy(reception.destination,
                  message.source != nullptr ? message.source : message.copy.data(),
                  message.size_bytes);
    }
    message.received = reception.received = true;
    box.messages.pop_front();
    box.receptions.pop_front();
  }
}

/// One allreduce of the network: contributions by node, reduced in node order when all are there.
struct Combination {
  std::map<int, std::vector<std::byte>> contributions;
  int readers_left;
};

struct Participation {
  int tag;
  void* destination;
  std::size_t count;
  DataType type;
  Operator op;
};

}  // namespace

struct MailboxNetwork::Mail {
  int node_count;
  Delivery delivery;
  std::mutex mutex;  // guards everything below
  std::map<Address, Box> boxes;
  std::map<std::pair<int, int>, Combination> combinations;  // by (lane, tag)
  std::size_t sent = 0;
  std::map<std::uintptr_t, std::shared_ptr<void>> operations;  // under way, by their handle

  /// The request for an operation that lives until it has completed, or the network ends.
  EndpointRequest keep(const std::shared_ptr<void>& operation, std::uintptr_t kind) {
    const auto handle = reinterpret_cast<std::uintptr_t>(operation.get());
    operations[handle] = operation;
    return {.handle = handle, .detail = kind};
  }
};

class MailboxNetwork::MailboxEndpoint : public Endpoint {
 public:
  MailboxEndpoint(Mail& mail, int node, int lane) : mail_(mail), node_(node), lane_(lane) {}

  EndpointRequest send(int peer_node, int tag, const void* source,
                       std::size_t size_bytes) override {
    auto message = std::make_shared<Message>();
    message->size_bytes = size_bytes;
    const std::lock_guard lock(mail_.mutex);
    ++mail_.sent;
    const bool eager = mail_.delivery == Delivery::eager ||
                       (mail_.delivery == Delivery::alternating && mail_.sent % 2 == 0);
    Box& box = mail_.boxes[{lane_, node_, peer_node, tag}];
    box.messages.push_back(message);
    EndpointRequest request;
    if (eager) {
      message->copy.resize(size_bytes);
      if (size_bytes > 0) std::memcpy(message->copy.data(), source, size_bytes);
    } else {
      message->source = source;
      request = mail_.keep(message, static_cast<std::uintptr_t>(Kind::send));
    }
    match(box);
    return request;
  }

  EndpointRequest receive(int peer_node, int tag, void* destination,
                          std::size_t size_bytes) override {
    const auto reception =
        std::make_shared<Reception>(Reception{.address = {lane_, peer_node, node_, tag},
                                              .destination = destination,
                                              .size_bytes = size_bytes});
    const std::lock_guard lock(mail_.mutex);
    Box& box = mail_.boxes[reception->address];
    box.receptions.push_back(reception.get());
    match(box);
    return mail_.keep(reception, static_cast<std::uintptr_t>(Kind::receive));
  }

  EndpointRequest allreduce(int tag, const void* source, void* destination, std::size_t count,
                            DataType type, Operator op) override {
    const auto* bytes = static_cast<const std::byte*>(source);
    const std::lock_guard lock(mail_.mutex);
    Combination& combination = mail_.combinations[{lane_, tag}];
    combination.readers_left = mail_.node_count;
    combination.contributions[node_].assign(bytes, bytes + count * size_of(type));
    return mail_.keep(
        std::make_shared<Participation>(Participation{tag, destination, count, type, op}),
        static_cast<std::uintptr_t>(Kind::allreduce));
  }

  void blocking_allreduce(int tag, const void* source, void* destination, std::size_t count,
                          DataType type, Operator op) override {
    EndpointRequest request = allreduce(tag, source, destination, count, type, op);
    while (!test(request)) {
    }
  }

  bool test(EndpointRequest& request) override {
    if (request.handle == 0) return true;
    const std::lock_guard lock(mail_.mutex);
    bool done = false;
    switch (static_cast<Kind>(request.detail)) {
      case Kind::send:
        done = finish_send(request.handle);
        break;
      case Kind::receive:
        done = finish_receive(request.handle);
        break;
      case Kind::allreduce:
        done = finish_allreduce(request.handle);
        break;
    }
    if (done) {
      mail_.operations.erase(request.handle);
      request = {};
    }
    return done;
  }

  bool cancel(EndpointRequest& request) override {
    const std::lock_guard lock(mail_.mutex);
    auto* reception = reinterpret_cast<Reception*>(request.handle);
    const bool is_to_come = !reception->received;
    if (is_to_come) mail_.boxes[reception->address].receptions.remove(reception);
    mail_.operations.erase(request.handle);
    request = {};
    return is_to_come;
  }

  void leave_alone(EndpointRequest& request) override { request = {}; }

  void send_failure(int peer_node, int tag) override { send(peer_node, tag, nullptr, 0); }

  void discard(int peer_node, int tag, std::size_t size_bytes) override {
    receive(peer_node, tag, nullptr, size_bytes);
  }

  void advance() override {}
  void progress() override {}
  int tag_count() const override { return kTags; }
  std::string describe_peer(int node) const override {
    return fmt::format("emulated node {}", node);
  }

 private:
  enum class Kind : std::uintptr_t { send, receive, allreduce };

  bool finish_send(std::uintptr_t handle) const {
    return reinterpret_cast<const Message*>(handle)->received;
  }

  bool finish_receive(std::uintptr_t handle) const {
    const auto* reception = reinterpret_cast<const Reception*>(handle);
    if (!reception->received) return false;
    if (reception->received_bytes == reception->size_bytes) return true;
    if (reception->received_bytes == 0) {
      throw Error(ErrorKind::mismatch,
                  fmt::format("node {} has failed in this call, and its error says why",
                              reception->address.from));
    }
    throw Error(ErrorKind::mismatch,
                fmt::format("node {} expected {} bytes from node {} and got {}; all members must "
                            "pass the same count and type",
                            node_, reception->size_bytes, reception->address.from,
                            reception->received_bytes));
  }

  bool finish_allreduce(std::uintptr_t handle) {
    auto* mine = reinterpret_cast<Participation*>(handle);
    const auto found = mail_.combinations.find({lane_, mine->tag});
    Combination& combination = found->second;
    if (static_cast<int>(combination.contributions.size()) < mail_.node_count) return false;
    std::vector<const void*> sources;
    for (const auto& [node, bytes] : combination.contributions) sources.push_back(bytes.data());
    reduce_kernel(mine->op, mine->type)(std::span(&mine->destination, 1), sources, mine->count,
                                        Stores::cached);
    if (--combination.readers_left == 0) mail_.combinations.erase(found);
    return true;
  }

  Mail& mail_;
  int node_;
  int lane_;
};

MailboxNetwork::MailboxNetwork(int node_count, int lane_count, Delivery delivery)
    : lane_count_(lane_count),
      mail_(new Mail{.node_count = node_count,
                     .delivery = delivery,
                     .mutex = {},
                     .boxes = {},
                     .combinations = {},
                     .operations = {}}) {
  for (int node = 0; node < node_count; ++node) {
    for (int lane = 0; lane < lane_count; ++lane) {
      endpoints_.push_back(std::make_unique<MailboxEndpoint>(*mail_, node, lane));
    }
  }
}

MailboxNetwork::~MailboxNetwork() = default;

Endpoint& MailboxNetwork::endpoint(int node, int lane) {
  return *endpoints_[static_cast<std::size_t>(node * lane_count_ + lane)];
}

}  // namespace hycoll
