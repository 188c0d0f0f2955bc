// Moments of many numbers, in oneTBB: parallel_reduce adds them up over the slots of an arena, each
// process passes its result to allreduce_combinable() with the copies of other tasks, and while a
// collective is under way, isolate() keeps a thread that waits for tasks of its own from taking up
// others.
#include <hycoll/hycoll.h>
#include <tbb/blocked_range.h>
#include <tbb/combinable.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

#include <cstdio>
#include <span>
#include <vector>

int main(int argc, char** argv) {
  int thread_level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
  constexpr int kCount = 10000;
  long wrong = 0;
  {
    hycoll::Communicator communicator(MPI_COMM_WORLD);
    // Two slots: the thread that calls execute(), and one of TBB's workers, if there is one.
    tbb::task_arena arena(2);
    // The numbers 1 to kCount: how many, their sum, and the sum of their squares.
    tbb::combinable<std::vector<double>> moments([] { return std::vector<double>(3); });
    arena.execute([&] {
      const double sum = tbb::parallel_reduce(
          tbb::blocked_range<int>(1, kCount + 1), 0.0,
          [](const tbb::blocked_range<int>& range, double part) {
            for (int i = range.begin(); i != range.end(); ++i) part += i;
            return part;
          },
          [](double left, double right) { return left + right; });
      moments.local()[1] += sum;
      tbb::parallel_for(tbb::blocked_range<int>(1, kCount + 1),
                        [&](const tbb::blocked_range<int>& range) {
                          // Without this a thread that waits in here for tasks of its own could
                          // begin another range, whose copy is the same.
                          tbb::this_task_arena::isolate([&] {
                            std::vector<double>& copy = moments.local();
                            for (int i = range.begin(); i != range.end(); ++i)
                              copy[2] += static_cast<double>(i) * i;
                            copy[0] += static_cast<double>(range.size());
                          });
                        });
    });

    // Outside of the arena: a collective waits for other processes, and tasks must not wait for
    // that.
    std::vector<double> totals(3);
    communicator.allreduce_combinable(moments, std::span(totals));

    const double members = communicator.size();
    const double n = kCount;
    wrong += totals[0] != members * n;
    wrong += totals[1] != members * n * (n + 1) / 2;
    wrong += totals[2] != members * n * (n + 1) * (2 * n + 1) / 6;
    if (communicator.rank() == 0)
      std::printf("%g numbers, mean %g\n", totals[0], totals[1] / totals[0]);
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
