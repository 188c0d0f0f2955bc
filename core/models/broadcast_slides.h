#ifndef HYCOLL_CORE_MODELS_BROADCAST_SLIDES_H_
#define HYCOLL_CORE_MODELS_BROADCAST_SLIDES_H_

namespace hycoll::models {

/// What a broadcast from process 0 sends in all. The slides count; they have no formula for time.
/// All functions of this file are pure. They require P >= 1.
///
/// Source: H. Zhou et al., A Bandwidth-saving Optimization for MPI Broadcast Collective Operation,
/// P2S2 2015, slides 9 to 15 and 28. P processes; the vector is cut into P equal chunks.
struct Transmissions {
  double messages = 0;
  double chunks = 0;  ///< Of all messages: n / P bytes each.

  friend bool operator==(const Transmissions&, const Transmissions&) = default;
};

/// Slide 9: a binomial scatter takes ceil(log2 P) steps.
int scatter_steps(int P);

/// Slides 9 and 10: the chunks that a process has after the scatter, its own and those of all its
/// descendants. Process 0 has all.
int chunks_after_scatter(int process, int P);

/// Slide 9: P - 1 messages, each of all chunks that the receiver has then.
Transmissions scatter(int P);

/// Slide 10, the native ring allgather: P - 1 steps in which all P processes send a chunk.
Transmissions native_ring(int P);

/// Slides 13 and 14: the messages that the tuned ring allgather saves, each of one chunk. The sum
/// over all processes of the chunks that one has after the scatter, less one: 12 among 8, 15 among
/// 10. Slide 28 leaves the formula open; this one follows from slide 15, where a process receives a
/// chunk only if it lacks it.
int saved_messages(int P);

/// Slides 13 to 15.
Transmissions tuned_ring(int P);

}  // namespace hycoll::models

#endif  // HYCOLL_CORE_MODELS_BROADCAST_SLIDES_H_
