#include "tests/preload/reductions/type_attributes.h"

#include <cstddef>
#include <vector>

#include "tests/preload/support/persistent_operation.h"
#include "tests/preload/support/programs.h"

namespace programs {
namespace {

// Callbacks of attributes.
int copies = 0;
int deletions = 0;

int refuse_copy(MPI_Datatype, int, void*, void*, void*, int*) {
  ++copies;
  return MPI_ERR_OTHER;
}
int count_deletion(MPI_Datatype, int, void*, void*) {
  ++deletions;
  return MPI_SUCCESS;
}

}  // namespace

void keep_attributes_alone(MPI_Comm communicator) {
  constexpr int kRounds = 8;
  constexpr int kCount = 3;
  const int size = size_of(communicator);
  const int rank = rank_of(communicator);
  int key = MPI_KEYVAL_INVALID;
  MPI_Type_create_keyval(&refuse_copy, &count_deletion, &key, nullptr);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Datatype inner = MPI_DATATYPE_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_vector(2, 1, 2, MPI_INT, &inner);
    MPI_Type_set_attr(inner, key, &copies);
    MPI_Type_create_resized(inner, 0, 16, &type);
    MPI_Type_set_attr(type, key, &copies);
    MPI_Type_commit(&type);
    MPI_Type_free(&inner);
    std::vector<int> block(4 * kCount, -1);
    std::vector<int> all(block.size() * static_cast<std::size_t>(size), -1);
    const std::vector<int> counts(static_cast<std::size_t>(size), kCount);
    std::vector<int> places;
    for (int of = 0; of < size; ++of) places.push_back(of * kCount);
    MPI_Request request = MPI_REQUEST_NULL;
    const bool is_persistent = round % 2 == 1;
    switch (round / 2) {
      case 0:
        is_persistent ? PERSISTENT(Allgather)(block.data(), kCount, type, all.data(), kCount, type,
                                              communicator, MPI_INFO_NULL, &request)
                      : MPI_Iallgather(block.data(), kCount, type, all.data(), kCount, type,
                                       communicator, &request);
        break;
      case 1:
        is_persistent
            ? PERSISTENT(Allgatherv)(block.data(), kCount, type, all.data(), counts.data(),
                                     places.data(), type, communicator, MPI_INFO_NULL, &request)
            : MPI_Iallgatherv(block.data(), kCount, type, all.data(), counts.data(), places.data(),
                              type, communicator, &request);
        break;
      case 2:
        is_persistent ? PERSISTENT(Gather)(block.data(), kCount, type, all.data(), kCount, type, 0,
                                           communicator, MPI_INFO_NULL, &request)
                      : MPI_Igather(block.data(), kCount, type, all.data(), kCount, type, 0,
                                    communicator, &request);
        break;
      default:
        is_persistent
            ? PERSISTENT(Gatherv)(block.data(), kCount, type, all.data(), counts.data(),
                                  places.data(), type, 0, communicator, MPI_INFO_NULL, &request)
            : MPI_Igatherv(block.data(), kCount, type, all.data(), counts.data(), places.data(),
                           type, 0, communicator, &request);
    }
    // Before the start, too: what a persistent call sends is what is there then.
    MPI_Type_free(&type);
    for (int start = 0; start < (is_persistent ? 3 : 1); ++start) {
      if (is_persistent) {
        for (std::size_t i = 0; i < block.size(); ++i) {
          block[i] = rank + 10 * start + 100 * static_cast<int>(i);
        }
        MPI_Start(&request);
      }
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      const bool has_all = round < 4 || rank == 0;
      for (std::size_t i = 0; has_all && i < all.size(); ++i) {
        const auto in_block = i % block.size();
        const int of = static_cast<int>(i / block.size());
        const bool is_data = in_block % 4 % 2 == 0;
        const int sent = is_persistent ? of + 10 * start + 100 * static_cast<int>(in_block) : -1;
        REQUIRE_HERE(all[i] == (is_data ? sent : -1));
      }
    }
    if (is_persistent) MPI_Request_free(&request);
  }
  REQUIRE_HERE(copies == 0);
  MPI_Barrier(communicator);
  REQUIRE_HERE(deletions == 2 * kRounds);
  MPI_Type_free_keyval(&key);
}

}  // namespace programs
