// TBB workers as members. Members wait for one another, so all of them must run at once, which TBB
// does not promise of tasks: here an arena with a slot for each and the permission for so many
// threads see to it, as long as nothing else keeps TBB's workers busy. Otherwise see
// std_threads.cc.
#include <hycoll/hycoll.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <atomic>
#include <cstdio>

int main(int argc, char** argv) {
  int thread_level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
  constexpr int kWorkerCount = 3;
  const tbb::global_control concurrency(tbb::global_control::max_allowed_parallelism, kWorkerCount);
  std::atomic<int> wrong = 0;
  {
    hycoll::Team team(MPI_COMM_WORLD, kWorkerCount);
    tbb::task_arena arena(kWorkerCount);
    tbb::task_group group;
    const auto work = [&](int index) {
      hycoll::Member member = team.join(index);
      for (int step = 0; step < 5; ++step) {
        const int sum = member.allreduce(member.rank() + step);
        wrong += sum != member.size() * (member.size() - 1) / 2 + step * member.size();
      }
      if (member.rank() == 0) std::printf("%d members\n", member.size());
    };
    arena.execute([&] {
      for (int index = 1; index < kWorkerCount; ++index) group.run([&, index] { work(index); });
      group.run_and_wait([&] { work(0); });
    });
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
