// Random collectives of random sizes and operators on random communicators, several of which live
// at once, by several threads; blocking, nonblocking and persistent, in place and not; vectors as
// single elements of long datatypes; broadcasts of data that every rank describes by a random
// datatype of its own; blocks that are moved, of random lengths.
// datatype of its own; blocks that are moved, of random lengths. Behind a third of the buffers of
// integers is a page that nobody may touch.
// usage: stress [GAMES [SEED [THREADS]]]
// Each thread plays so many games, of some rounds each; with STRESS_SECONDS in the environment it
// plays for that long instead. STRESS_SEED overrides the argument.

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "tests/collectives/elements/random_datatypes.h"
#include "tests/preload/stress/stress_movements.h"
#include "tests/preload/support/persistent_names.h"
#include "tests/preload/support/programs.h"

namespace {

using programs::rank_of;
using programs::size_of;
using programs::value_of;

using Vector = programs::Integers;

struct Operator {
  MPI_Op op;
  std::uint64_t (*combine)(std::uint64_t, std::uint64_t);
};

/// Not MPI_MAX: MPICH 4.0.2 compares MPI_UINT64_T as if it had a sign.
const std::array<Operator, 3> kOperators = {{
    {MPI_SUM, [](std::uint64_t a, std::uint64_t b) { return a + b; }},
    {MPI_BOR, [](std::uint64_t a, std::uint64_t b) { return a | b; }},
    {MPI_BXOR, [](std::uint64_t a, std::uint64_t b) { return a ^ b; }},
}};

/// An operator of the program's on elements of any number of integers.
template <std::size_t kIndex>
void combine_elements(void* left, void* right, int* count, MPI_Datatype* type) {
  int size_bytes = 0;
  PMPI_Type_size(*type, &size_bytes);
  const std::size_t integers = static_cast<std::size_t>(*count) *
                               static_cast<std::size_t>(size_bytes) / sizeof(std::uint64_t);
  const auto* const from = static_cast<const std::uint64_t*>(left);
  auto* const to = static_cast<std::uint64_t*>(right);
  for (std::size_t i = 0; i < integers; ++i) to[i] = kOperators[kIndex].combine(from[i], to[i]);
}

/// For each of kOperators the same as an operator of the program's.
class ElementOperators {
 public:
  ElementOperators() {
    MPI_Op_create(&combine_elements<0>, 1, &ops_[0]);
    MPI_Op_create(&combine_elements<1>, 1, &ops_[1]);
    MPI_Op_create(&combine_elements<2>, 1, &ops_[2]);
  }
  ~ElementOperators() {
    for (MPI_Op& op : ops_) MPI_Op_free(&op);
  }
  ElementOperators(const ElementOperators&) = delete;
  ElementOperators& operator=(const ElementOperators&) = delete;

  MPI_Op operator[](std::size_t index) const { return ops_[index]; }

 private:
  std::array<MPI_Op, kOperators.size()> ops_{};
};

/// So many integers as one element of a datatype.
class Block {
 public:
  explicit Block(std::size_t integers) {
    MPI_Type_contiguous(static_cast<int>(integers), MPI_UINT64_T, &type_);
    MPI_Type_commit(&type_);
  }
  ~Block() { MPI_Type_free(&type_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

enum class Kind {
  allreduce,
  reduce,
  scan,
  exscan,
  reduce_scatter_block,
  reduce_scatter,
  broadcast,
  typed_broadcast,
  movement,
  barrier
};
constexpr int kKinds = 10;

/// A call as all ranks have drawn it.
struct Round {
  std::uint64_t number;
  MPI_Comm communicator;
  Kind kind;
  std::size_t count;  ///< Of the output of every rank.
  int root;
  bool in_place;
  Operator op;
  MPI_Op element_op;  ///< Null: elements are integers. Else the whole output is one element.
};

/// One rank's buffers and expectations of a call.
class Trial {
 public:
  explicit Trial(const Round& round)
      : round_(round), rank_(rank_of(round.communicator)), size_(size_of(round.communicator)) {
    const auto ranks = static_cast<std::size_t>(size_);
    const bool scatters =
        round.kind == Kind::reduce_scatter_block || round.kind == Kind::reduce_scatter;
    if (round.element_op != MPI_OP_NULL) block_ = std::make_unique<Block>(round.count);
    counts_.assign(ranks, element_count());
    input_.resize(scatters ? round.count * ranks : round.count);
    for (std::size_t i = 0; i < input_.size(); ++i) input_[i] = value_of(rank_, i, round.number);
    output_.assign(round.count, 42);
    if (is_in_place()) output_ = input_;
    if (round.kind == Kind::broadcast && rank_ == round.root) output_ = input_;
  }

  void call() {
    const MPI_Comm on = round_.communicator;
    const void* const input = is_in_place() ? MPI_IN_PLACE : input_.data();
    std::uint64_t* const output = output_.data();
    const int n = element_count();
    const MPI_Datatype type = element_type();
    const MPI_Op op = block_ == nullptr ? round_.op.op : round_.element_op;
    switch (round_.kind) {
      case Kind::allreduce:
        MPI_Allreduce(input, output, n, type, op, on);
        return;
      case Kind::reduce:
        MPI_Reduce(input, output, n, type, op, round_.root, on);
        return;
      case Kind::scan:
        MPI_Scan(input, output, n, type, op, on);
        return;
      case Kind::exscan:
        MPI_Exscan(input, output, n, type, op, on);
        return;
      case Kind::reduce_scatter_block:
        MPI_Reduce_scatter_block(input, output, n, type, op, on);
        return;
      case Kind::reduce_scatter:
        MPI_Reduce_scatter(input, output, counts_.data(), type, op, on);
        return;
      case Kind::broadcast:
        MPI_Bcast(output, n, type, round_.root, on);
        return;
      case Kind::typed_broadcast:
      case Kind::movement:
        return;  // TypedBroadcast, StressMovement
      case Kind::barrier:
        MPI_Barrier(on);
        return;
    }
  }

  /// The same for an allreduce, nonblocking, or persistent.
  MPI_Request start() {
    MPI_Request request = MPI_REQUEST_NULL;
    const void* const input = is_in_place() ? MPI_IN_PLACE : input_.data();
    const MPI_Op op = block_ == nullptr ? round_.op.op : round_.element_op;
    if (round_.number % 2 == 0) {
      MPI_Iallreduce(input, output_.data(), element_count(), element_type(), op,
                     round_.communicator, &request);
      return request;
    }
    PERSISTENT(Allreduce)
    (input, output_.data(), element_count(), element_type(), op, round_.communicator, MPI_INFO_NULL,
     &request);
    MPI_Start(&request);
    return request;
  }

  void check() const {
    const auto rank = static_cast<std::size_t>(rank_);
    switch (round_.kind) {
      case Kind::allreduce:
        return expect(0, size_, 0);
      case Kind::reduce:
        if (rank_ == round_.root) expect(0, size_, 0);
        return;
      case Kind::scan:
        return expect(0, rank_ + 1, 0);
      case Kind::exscan:
        if (rank_ > 0) expect(0, rank_, 0);
        return;
      case Kind::reduce_scatter_block:
      case Kind::reduce_scatter:
        return expect(0, size_, round_.count * rank);
      case Kind::broadcast:
        return expect(round_.root, round_.root + 1, 0);
      case Kind::typed_broadcast:
      case Kind::movement:
      case Kind::barrier:
        return;
    }
  }

 private:
  int element_count() const { return block_ == nullptr ? static_cast<int>(round_.count) : 1; }
  MPI_Datatype element_type() const { return block_ == nullptr ? MPI_UINT64_T : block_->type(); }

  /// Only where every rank's output takes the input. MPICH 4.0.2 crashes in some reductions that
  /// are in place at their root.
  bool is_in_place() const {
    switch (round_.kind) {
      case Kind::allreduce:
      case Kind::scan:
      case Kind::exscan:
        return round_.in_place;
      default:
        return false;
    }
  }

  /// The output holds what ranks first to last - 1 contribute to the elements from `offset` on.
  void expect(int first, int last, std::size_t offset) const {
    for (std::size_t i = 0; i < round_.count; ++i) {
      std::uint64_t value = value_of(first, offset + i, round_.number);
      for (int rank = first + 1; rank < last; ++rank) {
        value = round_.op.combine(value, value_of(rank, offset + i, round_.number));
      }
      if (output_[i] == value) continue;
      std::fprintf(stderr, "call %llu, kind %d, element %zu of %zu, rank %d of %d\n",
                   static_cast<unsigned long long>(round_.number), static_cast<int>(round_.kind), i,
                   round_.count, rank_, size_);
      REQUIRE_HERE(output_[i] == value);
    }
  }

  Round round_;
  int rank_;
  int size_;
  std::unique_ptr<Block> block_;  ///< Null: elements are integers.
  std::vector<int> counts_;
  Vector input_;
  Vector output_;
};

/// A broadcast of data that every rank describes in its own way.
class TypedBroadcast {
 public:
  explicit TypedBroadcast(const Round& round)
      : round_(round),
        rank_(rank_of(round.communicator)),
        type_(type_of(rank_)),
        memory_(type_, 1, kPoison) {
    if (rank_ == round_.root) fill(memory_);
  }
  ~TypedBroadcast() { MPI_Type_free(&type_); }
  TypedBroadcast(const TypedBroadcast&) = delete;
  TypedBroadcast& operator=(const TypedBroadcast&) = delete;

  void call() { MPI_Bcast(memory_.origin(), 1, type_, round_.root, round_.communicator); }

  /// The root's elements, as the MPI library packs and unpacks them, are there and nothing else is.
  void check() const {
    MPI_Datatype sent = type_of(round_.root);
    Memory source(sent, 1, kPoison);
    fill(source);
    Memory expected(type_, 1, kPoison);
    const auto data = random_datatypes::packed(sent, 1, source);
    if (rank_ == round_.root) {
      fill(expected);
    } else {
      random_datatypes::unpack(data, type_, 1, expected);
    }
    MPI_Type_free(&sent);
    if (memory_.bytes() == expected.bytes()) return;
    std::fprintf(stderr, "call %llu, %zu elements of a random datatype, rank %d\n",
                 static_cast<unsigned long long>(round_.number), round_.count, rank_);
    REQUIRE_HERE(memory_.bytes() == expected.bytes());
  }

 private:
  using Memory = random_datatypes::Memory;
  static constexpr std::byte kPoison{0xd3};

  /// What is only sent may overlap.
  MPI_Datatype type_of(int rank) const {
    random_datatypes::Generator generator(value_of(rank, 0, round_.number), MPI_UINT64_T);
    return generator.draw_of(static_cast<int>(round_.count) + 1, rank != round_.root);
  }
  void fill(Memory& memory) const {
    std::vector<std::byte>& bytes = memory.bytes();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::byte>(value_of(round_.root, i, round_.number));
    }
  }

  Round round_;
  int rank_;
  MPI_Datatype type_;
  Memory memory_;
};

class Player {
 public:
  /// All ranks' players of one number draw the same.
  Player(MPI_Comm parent, unsigned seed, const ElementOperators& element_operators)
      : random_(seed), element_operators_(element_operators) {
    MPI_Comm_dup(parent, &home_);
  }

  /// Plays until every rank has played for long enough.
  void play(int games) {
    for (int g = 0; g < games; ++g) game();
    MPI_Comm_free(&home_);
  }

  void play_for(double seconds) {
    const double start = MPI_Wtime();
    for (int go_on = 1; go_on != 0;) {
      game();
      const int here = MPI_Wtime() - start < seconds ? 1 : 0;
      PMPI_Allreduce(&here, &go_on, 1, MPI_INT, MPI_MIN, home_);
    }
    MPI_Comm_free(&home_);
  }

  std::uint64_t rounds() const { return round_; }

 private:
  struct Pending {
    std::unique_ptr<Trial> trial;
    MPI_Request request;
  };

  std::uint64_t draw(std::uint64_t limit) { return random_() % limit; }

  /// Some rounds on communicators made for them, in turns.
  void game() {
    std::vector<MPI_Comm> communicators(1 + draw(3), MPI_COMM_NULL);
    const int rank = rank_of(home_);
    for (MPI_Comm& communicator : communicators) {
      const auto colours = static_cast<int>(1 + draw(2));
      const int key = draw(2) == 0 ? rank : -rank;
      MPI_Comm_split(home_, rank % colours, key, &communicator);
    }
    // Both halves draw alike, though they play apart.
    const std::uint64_t rounds = 1 + draw(40);
    for (std::uint64_t r = 0; r < rounds; ++r) {
      round(communicators[draw(communicators.size())]);
    }
    finish_pending();
    for (MPI_Comm& communicator : communicators) MPI_Comm_free(&communicator);
  }

  void round(MPI_Comm communicator) {
    ++round_;
    const bool is_long = draw(10) == 0;
    const std::uint64_t longest = draw(8) == 0 ? 300'000 : 60'000;
    const std::uint64_t shortest = draw(2) == 0 ? 8 : 600;
    const std::size_t op = draw(kOperators.size());
    Round drawn{
        .number = round_,
        .communicator = communicator,
        .kind = static_cast<Kind>(draw(kKinds)),
        .count = draw(is_long ? longest : shortest),
        .root = static_cast<int>(draw(1000) % static_cast<std::uint64_t>(size_of(communicator))),
        .in_place = draw(3) == 0,
        .op = kOperators[op],
        .element_op = MPI_OP_NULL};
    if (drawn.count > 0 && draw(6) == 0) drawn.element_op = element_operators_[op];
    if (drawn.kind == Kind::typed_broadcast) {
      TypedBroadcast broadcast(drawn);
      broadcast.call();
      broadcast.check();
      return;
    }
    if (drawn.kind == Kind::movement) {
      programs::StressMovement(drawn.number, communicator, drawn.count, drawn.root)
          .call_and_check();
      return;
    }
    auto trial = std::make_unique<Trial>(drawn);
    if (drawn.kind == Kind::allreduce && draw(3) == 0) {
      MPI_Request request = trial->start();
      pending_.push_back({std::move(trial), request});
      if (pending_.size() > 2) finish_pending();
      return;
    }
    trial->call();
    trial->check();
    if (draw(4) == 0) finish_pending();
  }

  void finish_pending() {
    for (Pending& pending : pending_) {
      MPI_Wait(&pending.request, MPI_STATUS_IGNORE);
      pending.trial->check();
      if (pending.request != MPI_REQUEST_NULL) MPI_Request_free(&pending.request);
    }
    pending_.clear();
  }

  std::mt19937_64 random_;
  const ElementOperators& element_operators_;
  MPI_Comm home_ = MPI_COMM_NULL;
  std::uint64_t round_ = 0;
  std::vector<Pending> pending_;
};

int argument(int argc, char** argv, int number, int otherwise) {
  return argc > number ? std::atoi(argv[number]) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const int games = argument(argc, argv, 1, 20);
  const char* const seconds = std::getenv("STRESS_SECONDS");
  const char* const other_seed = std::getenv("STRESS_SEED");
  const auto seed = static_cast<unsigned>(other_seed != nullptr ? std::atoi(other_seed)
                                                                : argument(argc, argv, 2, 1));
  const int thread_count = argument(argc, argv, 3, 2);
  const auto play = [&](Player& player) {
    return seconds != nullptr ? player.play_for(std::atof(seconds)) : player.play(games);
  };
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, thread_count > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &provided);
  if (rank_of(MPI_COMM_WORLD) == 0) {
    std::printf("stress: seed %u\n", seed);
    std::fflush(stdout);
  }
  auto element_operators = std::make_unique<ElementOperators>();
  std::vector<Player> players;
  players.reserve(static_cast<std::size_t>(thread_count));
  for (int t = 0; t < thread_count; ++t) {
    players.emplace_back(MPI_COMM_WORLD, seed + 1000 * static_cast<unsigned>(t),
                         *element_operators);
  }
  std::vector<std::thread> threads;
  for (int t = 1; t < thread_count; ++t) {
    threads.emplace_back([&, t] { play(players[static_cast<std::size_t>(t)]); });
  }
  play(players.front());
  for (std::thread& thread : threads) thread.join();
  std::uint64_t rounds = 0;
  for (const Player& player : players) rounds += player.rounds();
  const int rank = rank_of(MPI_COMM_WORLD);
  element_operators.reset();
  MPI_Finalize();
  if (rank == 0) std::printf("stress: ok, %llu calls\n", static_cast<unsigned long long>(rounds));
  return 0;
}
