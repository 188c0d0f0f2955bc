#include "collectives/processes/machine_exchange.h"

#include <algorithm>
#include <cstddef>
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

std::vector<int> gather_numbers(int own, MPI_Comm communicator) {
  std::vector<int> all(static_cast<std::size_t>(size_of(communicator)));
  check_mpi(MPI_Allgather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, communicator), "MPI_Allgather");
  return all;
}

/// Every process's list, by rank.
template <class Number>
std::vector<std::vector<Number>> gather_lists(std::span<const Number> own, MPI_Comm communicator) {
  const std::vector<int> sizes = gather_numbers(static_cast<int>(own.size_bytes()), communicator);
  std::vector<int> begins;
  int total = 0;
  for (const int size : sizes) {
    begins.push_back(total);
    total += size;
  }
  std::vector<Number> all(static_cast<std::size_t>(total) / sizeof(Number));
  check_mpi(MPI_Allgatherv(own.data(), static_cast<int>(own.size_bytes()), MPI_BYTE, all.data(),
                           sizes.data(), begins.data(), MPI_BYTE, communicator),
            "MPI_Allgatherv");
  std::vector<std::vector<Number>> lists;
  auto begin = all.begin();
  for (const int size : sizes) {
    const auto end = begin + size / static_cast<int>(sizeof(Number));
    lists.emplace_back(begin, end);
    begin = end;
  }
  return lists;
}

/// The list of the communicator's first process, on all of them.
template <class Number>
void hand_on(std::vector<Number>& list, MPI_Comm communicator) {
  int size_bytes = static_cast<int>(list.size() * sizeof(Number));
  check_mpi(MPI_Bcast(&size_bytes, 1, MPI_INT, 0, communicator), "MPI_Bcast");
  list.resize(static_cast<std::size_t>(size_bytes) / sizeof(Number));
  check_mpi(MPI_Bcast(list.data(), size_bytes, MPI_BYTE, 0, communicator), "MPI_Bcast");
}

}  // namespace

MachineExchange::MachineExchange(MPI_Comm communicator, MPI_Comm here)
    : here_(here), ranks_here_(gather_numbers(rank_in(communicator), here)) {
  // As many processes here as there are: all of them find the same.
  if (size_of(here) < size_of(communicator)) meet_machines(communicator);
}

void MachineExchange::meet_machines(MPI_Comm communicator) {
  const int rank = rank_in(communicator);
  const int is_first = rank == ranks_here_.front() ? 1 : 0;
  int before = 0;
  check_mpi(MPI_Exscan(&is_first, &before, 1, MPI_INT, MPI_SUM, communicator), "MPI_Exscan");
  if (rank == 0) before = 0;  // where MPI leaves it undefined
  check_mpi(MPI_Allreduce(&is_first, &machine_count_, 1, MPI_INT, MPI_SUM, communicator),
            "MPI_Allreduce");
  std::vector<int> first_ranks(static_cast<std::size_t>(machine_count_), 0);
  if (is_first == 1) first_ranks[static_cast<std::size_t>(before)] = rank;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, first_ranks.data(), machine_count_, MPI_INT, MPI_MAX,
                          communicator),
            "MPI_Allreduce");
  const auto own = std::ranges::find(first_ranks, ranks_here_.front());
  machine_ = static_cast<int>(own - first_ranks.begin());
  if (is_first == 1) first_ones_ = MpiCommunicator::among(communicator, first_ranks);
}

RankMap MachineExchange::machines() const {
  return machine_count_ == 1 ? RankMap::constant(static_cast<int>(ranks_here_.size()), 0)
                             : gather(machine_);
}

RankMap MachineExchange::gather(int value) const {
  const std::vector<int> values = gather_numbers(value, here_);
  if (machine_count_ == 1) return RankMap::of(values);
  std::vector<int> packed;
  if (is_first_here()) {
    const std::vector<int> description = describe_ranks(ranks_here_, values);
    packed = merge_descriptions(gather_lists<int>(description, first_ones_->handle())).packed();
  }
  hand_on(packed, here_);
  return RankMap::unpacked(packed);
}

std::vector<std::string> MachineExchange::gather_texts(const std::string& text) const {
  if (machine_count_ == 1) return {text};
  std::vector<char> all(text.begin(), text.end());
  all.push_back('\0');
  if (is_first_here()) {
    const auto lists = gather_lists<char>(all, first_ones_->handle());
    all.clear();
    for (const std::vector<char>& list : lists) all.insert(all.end(), list.begin(), list.end());
  }
  hand_on(all, here_);
  std::vector<std::string> texts;
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::find(begin, all.end(), '\0');
    texts.emplace_back(begin, end);
    begin = end + 1;
  }
  return texts;
}

}  // namespace hycoll
