// An operator of the user's own on elements of the user's own: mean and variance of samples that
// all processes have, merged pairwise, and delivered to one of them.
#include <hycoll/hycoll.h>

#include <cmath>
#include <cstdio>

namespace {

struct Moments {
  double count;
  double mean;
  double squares;  ///< Of the distances from the mean, added up.
};

Moments merged(const Moments& a, const Moments& b) {
  const double count = a.count + b.count;
  const double distance = b.mean - a.mean;
  return {count, a.mean + distance * b.count / count,
          a.squares + b.squares + distance * distance * a.count * b.count / count};
}

/// Called with parts of the vectors, by the threads that reduce them.
void merge(const void* left, void* right_and_result, std::size_t count) {
  const auto* a = static_cast<const Moments*>(left);
  auto* b = static_cast<Moments*>(right_and_result);
  for (std::size_t i = 0; i < count; ++i) b[i] = merged(a[i], b[i]);
}

}  // namespace

int main(int argc, char** argv) {
  int thread_level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
  MPI_Datatype moments_type;
  MPI_Type_contiguous(3, MPI_DOUBLE, &moments_type);
  MPI_Type_commit(&moments_type);
  bool right = true;
  {
    hycoll::Communicator communicator(MPI_COMM_WORLD);
    const auto merge_moments = hycoll::Operation::custom(merge, hycoll::Commutativity::commutative,
                                                         hycoll::Concurrency::any_thread);
    const int size = communicator.size();
    const int root = size - 1;
    const Moments own = {1.0, static_cast<double>(communicator.rank()), 0.0};  // one sample
    Moments all = {};
    communicator.reduce(&own, &all, 1, hycoll::ElementType(moments_type), merge_moments, root);
    if (communicator.rank() == root) {
      const double variance = (size * size - 1) / 12.0;  // of 0, 1, ..., size - 1
      right = all.count == size && std::abs(all.mean - root / 2.0) < 1e-12 &&
              std::abs(all.squares / all.count - variance) < 1e-12;
      std::printf("mean %g, variance %g\n", all.mean, all.squares / all.count);
    }
  }
  MPI_Type_free(&moments_type);
  MPI_Finalize();
  return right ? 0 : 1;
}
