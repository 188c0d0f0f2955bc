#ifndef HYCOLL_THREADING_TRANSPORT_UCX_UCX_ENDPOINT_H_
#define HYCOLL_THREADING_TRANSPORT_UCX_UCX_ENDPOINT_H_

#include <ucp/api/ucp.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "threading/transport/mpi/mpi_endpoint.h"
#include "threading/transport/ucx/near_mail.h"
#include "threading/transport/ucx/ucx_context.h"
#include "threading/transport/ucx/ucx_landing.h"
#include "threading/transport/ucx/ucx_worker.h"

namespace hycoll {

/// What a lane has to know about its peers.
struct UcxPeers {
  /// Whether the process with this number runs on the caller's machine. UCX cannot tell when such a
  /// one has ended, which the launcher does; of others the lane learns it.
  std::function<bool(int peer)> runs_here = nullptr;

  /// Whether this process drives the lane. Whoever does not sends and receives nothing by it, and
  /// needs no worker.
  bool drives_lane = true;

  /// With how many of those that do the lane has memory in common for short messages.
  std::size_t most_mails = 32;

  /// The same for all peers, and another one than that of any other lane that one of them has had:
  /// workers pass from lane to lane, and MPI libraries give the messages of a communicator that is
  /// gone to its successors.
  std::uint32_t generation = 0;

  /// Landings that the lane has at once, and those of its peers that it uses.
  std::size_t most_landings = 16;

  /// A peer's landing goes back when so many long messages of the lane were not for it; who has
  /// given one back, or got none, is offered one after so many.
  std::uint32_t long_unused = 256;
};

/// A lane over UCX: its messages go through a worker of its own, which only the lane's leader
/// drives, so that leaders never wait for one another. MPI keeps what only it can do: its own
/// collectives, and telling the lane's peers the worker's address.
///
/// The worker is taken with the lane: in a call it might be refused, and the peers, who wait for
/// its messages, could not even be told. Who has a first message for a peer introduces itself to it
/// over MPI, with its worker's address; the peer, which looks for that when it is to receive
/// something, connects, and answers over UCX with its own address. So nothing goes over MPI that
/// the peer does not receive: Open MPI loses messages of a communicator whose predecessor got one
/// after its end.
///
/// Whoever has sent or received may leave the worker alone for long, so an operation is over only
/// when nobody needs it any more. UCX completes the receive of a long message when its sender has
/// yet to be answered, which may have to wait; hence an acknowledgement of the lane's own behind
/// that, after which the receiver has nothing left to say and the sender nothing to wait for.
///
/// With a context that has puts, who receives long messages of a peer offers it a landing
/// (UcxLanding). From then on the peer puts those for which there is room there, and sends a notice
/// in their place, which matches as they would; the receiver copies them out. So nobody waits for
/// anybody. Whatever cannot be put goes as before, and nobody waits for an offer.
///
/// Two lanes on one machine agree, when they introduce themselves, on memory that both reach
/// (NearMail). From then on their short messages go through that, and all others over UCX: which
/// way a message comes its receiver knows from its length. A message of another length than its
/// receive may come the other way; who waits looks there from time to time.
class UcxEndpoint : public MpiEndpoint {
 public:
  /// As MpiEndpoint; all peers must make theirs over UCX. Throws Error (environment) where a worker
  /// is refused.
  UcxEndpoint(const UcxContext& context, std::shared_ptr<const MpiCommunicator> messages,
              std::shared_ptr<const MpiCommunicator> leaders, int lane, int lane_count,
              PeerNames peer_names, UcxPeers peers);
  /// Gives up what is still under way. The peers need not take part.
  ~UcxEndpoint() override;

  EndpointRequest send(int peer, int tag, const void* source, std::size_t size_bytes) override;
  EndpointRequest receive(int peer, int tag, void* destination, std::size_t size_bytes) override;
  bool test(EndpointRequest& request) override;
  bool cancel(EndpointRequest& request) override;
  void leave_alone(EndpointRequest& request) override;
  void discard(int peer, int tag, std::size_t size_bytes) override;
  void advance() override;
  int tag_count() const override;

  /// How many messages the process has put. Any thread.
  static std::uint64_t put_count() noexcept { return put_count_.load(std::memory_order_relaxed); }

  /// With how many peers lanes of the process have agreed on mail. Any thread.
  static std::uint64_t mail_count() noexcept { return mail_count_.load(std::memory_order_relaxed); }

 private:
  struct Peer;
  /// A message, with all that has to be over before nobody needs this side any more.
  struct Operation {
    UcxEndpoint* endpoint = nullptr;
    void* request = nullptr;  ///< UCX's; null as long as the peer's address has not come
    Peer* peer = nullptr;
    bool is_receive = false;
    bool is_left_alone = false;  ///< nobody asks for it any more
    bool is_by_mail = false;     ///< or it is not known yet which way its message comes
    bool is_listed = false;      ///< among the long receives of a peer with mail
    ucs_status_t status = UCS_OK;
    int open_parts = 0;  ///< of the message and its acknowledgement: not over yet
    int tag = 0;
    const void* source = nullptr;
    void* destination = nullptr;
    std::size_t size_bytes = 0;
    std::size_t received_bytes = 0;
    /// What tells a long message's sender that it has been read: sent by one side, received by the
    /// other.
    Operation* acknowledgement = nullptr;
    Operation* acknowledges = nullptr;            ///< the other way round
    std::unique_ptr<std::byte[]> room = nullptr;  ///< of a message that is the endpoint's own
    LandingNotice notice;                         ///< that follows what is put
    std::array<ucs_status_ptr_t, 2> puts{};       ///< UCX's requests: before the notice may leave
  };

  /// Mail that nobody has asked for yet.
  struct Letter {
    int tag = 0;
    std::vector<std::byte> bytes;
    /// Since when a long message has been expected in its place, which is an error if it lasts.
    std::optional<std::chrono::steady_clock::time_point> stray_since = std::nullopt;
  };

  /// What is only between lanes on one machine.
  struct Near {
    std::unique_ptr<NearMail> mail = nullptr;
    bool is_settled = false;            ///< the peer has the mail, too
    std::vector<Operation*> expected;   ///< receives by mail; until it is settled, all
    std::vector<Letter> unasked;        ///< in their order
    std::vector<Operation*> unposted;   ///< sends for which there has been no room
    std::vector<Operation*> long_ones;  ///< receives that are not by mail
  };

  struct Peer {
    int number = 0;
    UcxWorker::Connection* connection = nullptr;  ///< null as long as its address has not come
    bool is_introduced = false;                   ///< the lane has sent it its address, over MPI
    Operation* answer = nullptr;                  ///< that is to come to that
    bool has_introduced_itself = false;           ///< its address has come, over MPI
    bool is_to_introduce_itself = false;          ///< it says that it has done so
    std::vector<std::byte> introduction_bytes;    ///< what it has been sent
    std::vector<std::byte> address;               ///< that has come, and is not answered yet
    std::vector<Operation*> waiting;              ///< until it is_ready(), in their order
    MPI_Request introduction = MPI_REQUEST_NULL;  ///< under way to it
    std::unique_ptr<Near> near;                   ///< null: everything goes over UCX
    std::unique_ptr<UcxTarget> target;            ///< where messages for it are put
    /// Those for it that are being put, and those with equal tags behind them, in their order.
    std::vector<Operation*> held;
    std::unique_ptr<UcxLanding> landing;     ///< where it puts messages
    bool uses_landing = false;               ///< its last long message was there
    std::uint32_t receives_until_offer = 0;  ///< of long messages, before it is offered one
  };

  const UcxLibrary& ucx() const noexcept { return worker_->ucx(); }
  /// For one more element, besides `others` that may come.
  template <class Element>
  static void make_room(std::vector<Element>& elements, std::size_t others = 0) {
    const std::size_t size = elements.size() + others;
    if (size >= elements.capacity()) elements.reserve(2 * size + 1);
  }
  /// Beyond those of the lane's messages.
  int answer_tag() const { return tag_count() * kTagEpochs; }
  /// Of what is said about landings: to those who put, and by them.
  int landing_tag() const { return answer_tag() + 1; }
  int return_tag() const { return answer_tag() + 2; }
  int introduction_tag() const { return own_tag(answer_tag()); }
  Peer& peer(int number);
  void introduce_to(Peer& peer);
  /// The peer, which has introduced itself, must be connected.
  void answer(Peer& peer);
  /// Sends what has waited for it.
  void connect(Peer& peer, std::span<const std::byte> address);
  /// Whether messages can be sent to it: it is connected, and their way is known.
  static bool is_ready(const Peer& peer);
  void send_waiting(Peer& peer);
  void take_answer(Peer& peer);
  /// Takes what has come from an unknown peer; whether no address can come from it any more.
  bool meet(Peer& peer);
  std::unique_lock<std::mutex> use() { return worker_->use(); }
  /// Connects to the peers whose addresses have come.
  void take_addresses();
  /// The address that has come from a peer; empty if none has.
  std::vector<std::byte> arrived_address(int number) const;
  /// Takes those that nobody needed, too, and sends what has been left alone and still waits for
  /// them. For kPatience at most.
  void await_last_addresses();
  /// Between this endpoint and a peer.
  /// advance(), by whoever uses the worker.
  void drive();
  Operation& take_operation(Peer& peer, int tag);
  void give_back(Operation& operation);
  /// What UCX matches its message by.
  ucp_tag_t ucx_tag(int tag, int sender) const;
  ucp_tag_t ucx_tag(const Operation& operation, int sender) const;
  /// Now, or when its peer is connected. Requires room among those that wait.
  void send(Operation& operation);
  void start(Operation& operation);
  /// With the operation's size in bytes.
  void start_receive(Operation& operation, void* destination);
  /// Starts a receive, whichever way its message comes.
  Operation& expect(int peer, int tag, void* destination, std::size_t size_bytes);
  /// What UCX says when an operation is started: it is under way, or over.
  void accept(Operation& operation, ucs_status_ptr_t started);
  void end_part(Operation& operation, ucs_status_t status);
  /// Of long messages that have been received. Not from UCX's callbacks.
  void send_acknowledgements();
  /// Says what is to be said to peers. What memory is refused for is said next time.
  void catch_up();
  EndpointRequest request_of(Operation& operation);
  void leave_alone(Operation& operation);
  /// Ends what is under way without having its effect; whether it was still to come.
  bool give_up(Operation& operation);
  static bool is_lost(const Peer& peer);
  /// In ucx_endpoint_mail.cc.
  /// Whether a message of this length goes there and comes from there by mail.
  static bool is_mailed(const Peer& peer, std::size_t size_bytes);
  /// Whether that is known.
  static bool is_settled(const Peer& peer) { return peer.near == nullptr || peer.near->is_settled; }
  bool may_have_more_mail() const { return near_.size() < are_.most_mails; }
  /// It is known now whether there is mail: starts the receives that have waited for that.
  void settle(Peer& peer, bool has_mail);
  /// Now, or when there is room. Requires room among those that are not posted.
  void post(Operation& operation);
  void post_rest(Near& near);
  /// Requires room among those expected.
  void expect_mail(Operation& operation);
  /// A receive's answer; may give it back.
  void deliver(Operation& operation, std::span<const std::byte> bytes);
  void take_mail(Near& near);
  /// Of an operation by mail that is not over, each time that somebody asks for it.
  void look_for_mail(Operation& operation);
  /// Where a message that is too long for a receive by mail has come over UCX the receive takes it.
  void look_for_long_messages(Near& near);
  /// Where mail has come instead of a long message the receive takes it.
  void end_strays(Near& near);
  void end_with(Operation& operation, std::vector<Letter>::iterator letter);
  void drive_mail();
  /// A receive over UCX from a peer that may send mail in its place.
  void list_long_receive(Operation& operation);
  /// In ucx_endpoint_puts.cc.
  /// Puts the message, if that can be done at once; false: nothing has happened. Requires room
  /// among those held.
  bool put(Operation& operation);
  /// Whether what is put has arrived; its status says how.
  bool has_landed(Operation& operation);
  /// Starts those whose turn has come.
  void advance_held(Peer& peer);
  void advance_held();
  static bool is_behind(const Peer& peer, int tag, std::size_t place);
  /// Takes offers, and what has become free.
  void hear_of_landing(Peer& peer);
  void accept_offer(Peer& peer, std::span<const std::byte> offer);
  void return_unused_targets();
  void tell_of_return(Peer& peer);
  /// Offers a landing to a peer that is expected to send a long message.
  void offer_landing(Peer& peer);
  /// Whether the peer has given its landing back.
  bool take_return(Peer& peer);
  bool make_room_for_landing();
  /// The next message with this tag that has arrived from the peer and is not received yet; null if
  /// there is none. If it is removed only its handle leads to it.
  ucp_tag_message_h probe(const Peer& peer, int tag, bool removes, ucp_tag_recv_info_t& info);
  /// The same, received; empty if there is none.
  std::vector<std::byte> arrived(const Peer& peer, int tag);
  void tell(Peer& peer, int tag, std::span<const std::byte> bytes);
  /// If what has been received is a notice: copies the message that it tells of.
  void read_landed(Operation& received);
  /// Tells one of these peers which of its blocks have been read. Not from UCX's callbacks.
  void tell_read();
  /// Waits, for kPatience at most, until all that has been put has been read; whether it has.
  bool drop_landings();

  [[noreturn]] void throw_long(int peer, std::size_t expected_bytes) const;
  [[noreturn]] void throw_failed(int peer, ucs_status_t status) const;
  /// Gives up what the lane still receives. Returns whether nothing of it can come any more.
  bool end_operations();

  static void on_sent(void* request, ucs_status_t status, void* operation);
  static void on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                          void* operation);

  const UcxContext* context_;
  UcxPeers are_;
  UcxWorker::Handle worker_;  // null where others drive the lane
  std::unordered_map<int, Peer> peers_;
  Peer* last_peer_ = nullptr;   // whom the last message was to or from
  std::vector<Peer*> unknown_;  // those that an address may still come from
  std::vector<Peer*> near_;     // with mail
  std::uint32_t mail_looks_ = 0;
  std::deque<Operation> operations_;
  std::vector<Operation*> idle_operations_;
  std::vector<Operation*> to_acknowledge_;
  bool may_land_;                 // whether memory for landings is given, as far as is known
  std::vector<Peer*> holding_;    // with something held
  std::vector<Peer*> read_from_;  // that wait to be told so
  std::vector<Peer*> targets_;    // with a target
  std::vector<Peer*> landings_;   // with a landing
  std::uint64_t long_send_count_ = 0;
  static std::atomic<std::uint64_t> put_count_;
  static std::atomic<std::uint64_t> mail_count_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRANSPORT_UCX_UCX_ENDPOINT_H_
