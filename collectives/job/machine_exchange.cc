#include "collectives/job/machine_exchange.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hycoll {
namespace {

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(communicator, &rank), "MPI_Comm_rank");
  return rank;
}

int size_of(MPI_Comm communicator) {
  int size = 1;
  check_mpi(MPI_Comm_size(communicator, &size), "MPI_Comm_size");
  return size;
}

std::vector<int> gather_numbers(JointSetup& setup, int own, MPI_Comm communicator) {
  std::vector<int> all(static_cast<std::size_t>(size_of(communicator)));
  setup.meet();
  JointSetup::complete("MPI_Iallgather", [&](MPI_Request* request) {
    return MPI_Iallgather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, communicator, request);
  });
  return all;
}

}  // namespace

template <class Number>
std::vector<std::vector<Number>> MachineExchange::lists_of_first_ones(
    std::span<const Number> own) const {
  const auto count = static_cast<std::size_t>(is_first_here() ? machine_count_ : 0);
  const MPI_Comm first_ones = is_first_here() ? first_ones_->handle() : MPI_COMM_NULL;
  const auto own_bytes = static_cast<int>(own.size_bytes());
  std::vector<int> sizes(count);
  setup_.meet();
  if (is_first_here()) {
    JointSetup::complete("MPI_Iallgather", [&](MPI_Request* request) {
      return MPI_Iallgather(&own_bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, first_ones, request);
    });
  }
  std::vector<int> begins;
  int total = 0;
  for (const int size : sizes) {
    begins.push_back(total);
    total += size;
  }
  std::vector<Number> all(static_cast<std::size_t>(total) / sizeof(Number));
  setup_.meet();
  if (is_first_here()) {
    JointSetup::complete("MPI_Iallgatherv", [&](MPI_Request* request) {
      return MPI_Iallgatherv(own.data(), own_bytes, MPI_BYTE, all.data(), sizes.data(),
                             begins.data(), MPI_BYTE, first_ones, request);
    });
  }
  std::vector<std::vector<Number>> lists;
  auto begin = all.begin();
  for (const int size : sizes) {
    const auto end = begin + size / static_cast<int>(sizeof(Number));
    lists.emplace_back(begin, end);
    begin = end;
  }
  return lists;
}

template <class Number>
void MachineExchange::hand_on(std::vector<Number>& list) const {
  list.resize(static_cast<std::size_t>(setup_.most(static_cast<std::int64_t>(list.size()))));
  setup_.meet();
  JointSetup::complete("MPI_Ibcast", [&](MPI_Request* request) {
    return MPI_Ibcast(list.data(), static_cast<int>(list.size() * sizeof(Number)), MPI_BYTE, 0,
                      here_, request);
  });
}

MachineExchange::MachineExchange(JointSetup& setup, MPI_Comm communicator, MPI_Comm here)
    : setup_(setup), here_(here), ranks_here_(gather_numbers(setup, rank_in(communicator), here)) {
  // As many processes here as there are: all of them find the same.
  if (size_of(here) < size_of(communicator)) meet_machines(communicator);
}

void MachineExchange::meet_machines(MPI_Comm communicator) {
  const int rank = rank_in(communicator);
  const int is_first = rank == ranks_here_.front() ? 1 : 0;
  int before = 0;
  setup_.meet();
  JointSetup::complete("MPI_Iexscan", [&](MPI_Request* request) {
    return MPI_Iexscan(&is_first, &before, 1, MPI_INT, MPI_SUM, communicator, request);
  });
  if (rank == 0) before = 0;  // where MPI leaves it undefined
  JointSetup::complete("MPI_Iallreduce", [&](MPI_Request* request) {
    return MPI_Iallreduce(&is_first, &machine_count_, 1, MPI_INT, MPI_SUM, communicator, request);
  });
  std::vector<int> first_ranks(static_cast<std::size_t>(machine_count_), 0);
  std::vector<int> own_rank = first_ranks;
  if (is_first == 1) own_rank[static_cast<std::size_t>(before)] = rank;
  setup_.meet();
  JointSetup::complete("MPI_Iallreduce", [&](MPI_Request* request) {
    return MPI_Iallreduce(own_rank.data(), first_ranks.data(), machine_count_, MPI_INT, MPI_MAX,
                          communicator, request);
  });
  const auto own = std::ranges::find(first_ranks, ranks_here_.front());
  machine_ = static_cast<int>(own - first_ranks.begin());
  first_ones_ = MpiCommunicator::among(setup_, communicator, first_ranks);
}

RankMap MachineExchange::machines() const {
  return machine_count_ == 1 ? RankMap::constant(static_cast<int>(ranks_here_.size()), 0)
                             : gather(machine_);
}

RankMap MachineExchange::gather(int value) const {
  const std::vector<int> values = gather_numbers(setup_, value, here_);
  if (machine_count_ == 1) return RankMap::of(values);
  std::vector<int> own;
  if (is_first_here()) own = describe_ranks(ranks_here_, values);
  const auto descriptions = lists_of_first_ones(std::span<const int>(own));
  std::vector<int> packed;
  if (is_first_here()) packed = merge_descriptions(descriptions).packed();
  hand_on(packed);
  return RankMap::unpacked(packed);
}

std::vector<std::string> MachineExchange::gather_texts(const std::string& text) const {
  if (machine_count_ == 1) return {text};
  std::vector<char> all(text.begin(), text.end());
  all.push_back('\0');
  const auto lists = lists_of_first_ones(std::span<const char>(all));
  all.clear();
  for (const std::vector<char>& list : lists) all.insert(all.end(), list.begin(), list.end());
  hand_on(all);
  std::vector<std::string> texts;
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::find(begin, all.end(), '\0');
    texts.emplace_back(begin, end);
    begin = end + 1;
  }
  return texts;
}

}  // namespace hycoll
