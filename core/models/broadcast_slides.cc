#include "core/models/broadcast_slides.h"

#include <algorithm>

#include "core/models/steps.h"

namespace hycoll::models {

int scatter_steps(int P) { return ceil_lg(P); }

int chunks_after_scatter(int process, int P) {
  if (process == 0) return P;
  // A subtree has as many processes as the lowest bit of its first one says, if there are so many.
  const int subtree = process & -process;
  return std::min(subtree, P - process);
}

Transmissions scatter(int P) {
  Transmissions sent;
  for (int process = 1; process < P; ++process) {
    ++sent.messages;
    sent.chunks += chunks_after_scatter(process, P);
  }
  return sent;
}

Transmissions native_ring(int P) {
  const double sent = static_cast<double>(P - 1) * P;
  return {sent, sent};
}

int saved_messages(int P) {
  int saved = 0;
  for (int process = 0; process < P; ++process) saved += chunks_after_scatter(process, P) - 1;
  return saved;
}

Transmissions tuned_ring(int P) {
  const double sent = native_ring(P).messages - saved_messages(P);
  return {sent, sent};
}

}  // namespace hycoll::models
