// std::thread workers as members, three in every process.
#include <hycoll/hycoll.h>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  int thread_level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
  constexpr int kWorkerCount = 3;
  std::atomic<int> wrong = 0;
  {
    hycoll::Team team(MPI_COMM_WORLD, kWorkerCount);
    const auto work = [&](int index) {
      hycoll::Member member = team.join(index);
      for (int step = 0; step < 5; ++step) {
        const int sum = member.allreduce(member.rank() + step);
        wrong += sum != member.size() * (member.size() - 1) / 2 + step * member.size();
      }
      member.barrier();
      if (member.rank() == 0) std::printf("%d members have done 5 steps\n", member.size());
    };
    std::vector<std::jthread> workers;
    for (int index = 0; index < kWorkerCount; ++index) workers.emplace_back(work, index);
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
