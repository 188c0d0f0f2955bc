#ifndef HYCOLL_COLLECTIVES_ELEMENTS_MPI_REDUCER_H_
#define HYCOLL_COLLECTIVES_ELEMENTS_MPI_REDUCER_H_

#include <mpi.h>

#include <cstddef>
#include <mutex>
#include <span>
#include <utility>

#include "collectives/api/operation.h"
#include "collectives/elements/vector_elements.h"
#include "core/kernels/reducer.h"

namespace hycoll {

/// Guards the functions that users brought along and that one thread at a time may run, in the
/// whole process.
std::mutex& user_operator_mutex() noexcept;

/// A reduction by an operator of two operands that overwrites the right one. Folds from the left as
/// the kernels do, in blocks that stay in a core's own cache. The operator sees elements as this
/// member's type lays them out: those that are staged are unpacked for it, and packed again.
class FoldingReducer : public ForeignReducer {
 public:
  void reduce(std::span<void* const> destinations, std::span<const void* const> sources,
              std::size_t count) const final;

 protected:
  explicit FoldingReducer(VectorElements elements) noexcept : elements_(std::move(elements)) {}

  /// right_and_result[i] = left[i] op right_and_result[i] for `count` elements at these origins,
  /// as far apart as in a user's buffer. Thread-safe; may throw Error.
  virtual void apply(const void* left, void* right_and_result, std::size_t count) const = 0;

 private:
  /// Of these elements of the vectors.
  struct Block {
    std::size_t begin;
    std::size_t count;
  };

  std::size_t most_elements_at_once() const noexcept;
  const std::byte* elements_at(const void* vector, const Block& block) const noexcept {
    return static_cast<const std::byte*>(vector) + block.begin * elements_.element_bytes;
  }
  std::byte* elements_at(void* vector, const Block& block) const noexcept {
    return static_cast<std::byte*>(vector) + block.begin * elements_.element_bytes;
  }
  void fold(std::span<void* const> destinations, std::span<const void* const> sources,
            const Block& block) const;
  void fold_unpacked(std::span<void* const> destinations, std::span<const void* const> sources,
                     const Block& block) const;

  VectorElements elements_;
};

/// What MPI_Reduce_local does: predefined operators on types that hycoll has no kernels for, and
/// operators of MPI_Op_create, which one thread of the process at a time calls. Any thread may call
/// MPI for a predefined one if the thread level allows that.
class MpiReducer final : public FoldingReducer {
 public:
  /// Requires that MPI defines the operator on the type; both handles outlive this object. Failures
  /// of MPI are an Error (environment) with MPI's text.
  MpiReducer(MPI_Op op, MPI_Datatype type, VectorElements elements);

  bool runs_anywhere() const noexcept override { return runs_anywhere_; }

 private:
  void apply(const void* left, void* right_and_result, std::size_t count) const override;

  MPI_Op op_;
  MPI_Datatype type_;
  bool is_user_defined_;
  bool runs_anywhere_;
};

/// An operation of Operation::custom on elements of a type. What the function throws becomes an
/// Error (user_operator).
class CustomReducer final : public FoldingReducer {
 public:
  /// Requires operation.is_custom().
  CustomReducer(const Operation& operation, VectorElements elements)
      : FoldingReducer(std::move(elements)), operation_(operation) {}

  bool runs_anywhere() const noexcept override { return operation_.is_concurrent(); }

 private:
  void apply(const void* left, void* right_and_result, std::size_t count) const override;

  Operation operation_;
};

/// A kernel whose elements are parts of the reducer's: the sum of complex numbers is that of their
/// parts.
class PartsReducer final : public ForeignReducer {
 public:
  PartsReducer(ReduceKernel kernel, std::size_t parts_per_element) noexcept
      : kernel_(kernel), parts_per_element_(parts_per_element) {}

  bool runs_anywhere() const noexcept override { return true; }

  void reduce(std::span<void* const> destinations, std::span<const void* const> sources,
              std::size_t count) const override {
    kernel_(destinations, sources, count * parts_per_element_, Stores::cached);
  }

 private:
  ReduceKernel kernel_;
  std::size_t parts_per_element_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ELEMENTS_MPI_REDUCER_H_
