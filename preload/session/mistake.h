#ifndef HYCOLL_PRELOAD_SESSION_MISTAKE_H_
#define HYCOLL_PRELOAD_SESSION_MISTAKE_H_

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "collectives/elements/committed.h"
#include "preload/session/routine.h"

namespace hycoll::preload {

/// What a process can tell by itself to be wrong with what it passes.
enum class Mistake : std::uint8_t {
  none,
  aliased,          ///< Input and output are at one address, without MPI_IN_PLACE.
  output_in_place,  ///< MPI_IN_PLACE as the buffer of a result.
  input_in_place,   ///< MPI_IN_PLACE as the input of a process that may not be in place.
  no_buffer,        ///< Elements at a null address.
  negative_count,   ///< Of elements.
};

/// What an MPI library does with a call in which a process makes a mistake.
enum class Answer : std::uint8_t {
  error,   ///< It raises an error at once, on this process alone.
  result,  ///< It makes the call.
  crash,
};

/// The answer of this MPI library to a call of so many elements, of no element if the count is not
/// this process's.
Answer library_answer(Mistake mistake, Routine routine, MPI_Count count) noexcept;

/// MPI's error class.
int class_of(Mistake mistake) noexcept;
/// For people, beginning with the routine's name.
std::string text_of(Mistake mistake, Routine routine);

/// One of the buffers that a process passes.
struct PassedBuffer {
  const void* address;
  MPI_Count count;  ///< Of elements; MPI looks at no address if there are none.
  MPI_Datatype type;
};

inline bool is_no_address(const void* address) noexcept {
  return address == nullptr || address == MPI_IN_PLACE;
}

/// A buffer that MPI_IN_PLACE must not stand for: what it is a mistake to pass it for.
Mistake find_mistake(const PassedBuffer& buffer, Mistake in_place);
/// The input and output of a process.
Mistake find_mistake(const PassedBuffer& input, const PassedBuffer& output);

// The same for a few instructions where nothing is wrong.
inline Mistake mistake_in_input(const PassedBuffer& input) {
  return is_no_address(input.address) ? find_mistake(input, Mistake::input_in_place)
                                      : Mistake::none;
}
inline Mistake mistake_in_output(const PassedBuffer& output) {
  return is_no_address(output.address) ? find_mistake(output, Mistake::output_in_place)
                                       : Mistake::none;
}
/// The input may be MPI_IN_PLACE.
inline Mistake mistake_in(const PassedBuffer& input, const PassedBuffer& output) {
  const bool is_suspect =
      input.address == output.address || input.address == nullptr || is_no_address(output.address);
  return is_suspect ? find_mistake(input, output) : Mistake::none;
}

/// The buffers of a collective whose processes have a block each, and one of them, or all, the
/// blocks of all.
struct PassedBlocks {
  PassedBuffer own;  ///< Or MPI_IN_PLACE.
  PassedBuffer all;
  std::ptrdiff_t own_begin;  ///< The element of `all` at which the process's own block begins.
  bool is_alike;             ///< Whether both describe the own block in the same way.
  Mistake in_place;          ///< What it is to pass MPI_IN_PLACE for all of them.
};
Mistake find_mistake(const PassedBlocks& blocks);

/// The same for a few instructions where nothing is wrong.
inline Mistake mistake_in(const PassedBlocks& blocks) {
  // The own block among all of them; no predefined type is longer.
  constexpr std::uintptr_t kMostBytes = 32;
  const std::uintptr_t distance = reinterpret_cast<std::uintptr_t>(blocks.own.address) -
                                  reinterpret_cast<std::uintptr_t>(blocks.all.address);
  const bool is_suspect = is_no_address(blocks.all.address) || blocks.own.address == nullptr ||
                          distance <= kMostBytes * static_cast<std::uintptr_t>(blocks.own_begin);
  return is_suspect ? find_mistake(blocks) : Mistake::none;
}

inline bool is_usable(MPI_Datatype type) { return type != MPI_DATATYPE_NULL && is_committed(type); }

/// The first of them, the second if that one is no type to communicate with: so a call of two types
/// has one that tells whether both are.
inline MPI_Datatype worse_type(MPI_Datatype type, MPI_Datatype other) {
  if (other == type) return type;
  return is_usable(other) ? type : other;
}

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_SESSION_MISTAKE_H_
