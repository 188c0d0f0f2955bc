#include "collectives/c_interface/handles.h"

#include <doctest/doctest.h>
#include <hycoll.h>  // is C++, too

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace hycoll::c_interface {
namespace handles_test {

TEST_CASE("each handle finds its own object until it is removed, in whatever order") {
  Handles handles;
  std::vector<int> objects(1000);
  std::vector<std::uint64_t> made;
  for (int& object : objects) made.push_back(handles.add(Kind::member, &object));
  for (std::size_t i = 0; i < made.size(); i += 3) handles.remove(made[i]);
  for (std::size_t i = 0; i < made.size(); ++i) {
    CHECK(handles.find(Kind::member, made[i]) == (i % 3 == 0 ? nullptr : &objects[i]));
    CHECK(handles.find(Kind::team, made[i]) == nullptr);
  }
  CHECK(handles.why_not(Kind::member, made[0]) == "has been freed");
  CHECK(handles.why_not(Kind::team, made[1]) == "is that of a member");
}

TEST_CASE("a slot that is used again is not what its old handles stand for") {
  Handles handles;
  int first = 0;
  int second = 0;
  const std::uint64_t old = handles.add(Kind::request, &first);
  handles.remove(old);
  const std::uint64_t now = handles.add(Kind::member, &second);
  CHECK(handles.find(Kind::request, old) == nullptr);
  CHECK(handles.why_not(Kind::request, old) == "has been freed");
  CHECK(handles.find(Kind::member, now) == &second);
  handles.remove(now);
  const std::uint64_t again = handles.add(Kind::request, &second);
  CHECK(handles.find(Kind::request, old) == nullptr);
  CHECK(handles.find(Kind::request, again) == &second);
}

TEST_CASE("slots are used again, so that they do not grow with time") {
  Handles handles;
  int object = 0;
  std::uint64_t greatest = 0;
  constexpr std::uint64_t kIndexMask = (std::uint64_t{1} << 28) - 1;
  for (int round = 0; round < 10'000; ++round) {
    const std::uint64_t handle = handles.add(Kind::request, &object);
    greatest = std::max(greatest, handle & kIndexMask);
    handles.remove(handle);
  }
  CHECK(greatest == 0);
}

TEST_CASE("after the end no handle stands for anything") {
  Handles handles;
  int object = 0;
  const std::uint64_t handle = handles.add(Kind::team, &object);
  handles.end_all();
  CHECK(handles.find(Kind::team, handle) == nullptr);
  CHECK(handles.why_not(Kind::team, handle) == "is of a time before MPI_Finalize");
}

TEST_CASE("handles are found while other threads make and remove theirs") {
  Handles handles;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      std::vector<int> objects(200);
      for (int round = 0; round < 20; ++round) {
        std::vector<std::uint64_t> made;
        for (int& object : objects) made.push_back(handles.add(Kind::request, &object));
        for (std::size_t i = 0; i < made.size(); ++i) {
          if (handles.find(Kind::request, made[i]) != &objects[i]) ++wrong;
          handles.remove(made[i]);
          if (handles.find(Kind::request, made[i]) != nullptr) ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

}  // namespace handles_test
}  // namespace hycoll::c_interface
