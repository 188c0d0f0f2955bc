#ifndef HYCOLL_TOOLS_COMMAND_MODELLING_CLOSED_FORMS_H_
#define HYCOLL_TOOLS_COMMAND_MODELLING_CLOSED_FORMS_H_

#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/collective.h"
#include "core/base/machine_prices.h"
#include "core/models/broadcast_slides.h"
#include "core/schedule/shape.h"

namespace hycoll::command {

/// A call that a closed form is evaluated for: equal nodes, whose members are the paper's
/// processes.
struct ModelCall {
  int nodes = 2;
  int members = 1;
  int lanes = 1;     ///< The paper's leaders, endpoints or colours.
  int segments = 1;  ///< The paper's sub-partitions.
  int domains = 1;   ///< NUMA domains of a node.
  double size_bytes = 0;
  double item_bytes = 1;  ///< Of an element of the vector.
};

/// A term of a sum.
struct ModelTerm {
  std::string_view name;    ///< The paper's symbol, where it has one.
  std::string_view source;  ///< "(2)" is an equation's number, "4.1" a section's.
  double time_us;
  bool is_overlapped = false;  ///< Shorter than what runs meanwhile, and no part of the sum.
};

/// Without what is overlapped.
double sum_us(std::span<const ModelTerm> terms);

inline constexpr int kAnyLanes = std::numeric_limits<int>::max();

/// What a paper says of an algorithm that hycoll has, too.
struct ClosedForm {
  Collective collective;
  std::string_view algorithm;
  std::string_view paper;
  std::string_view equations;
  /// As the paper prints it, from the prices of a machine. Null if the paper counts messages only.
  std::vector<ModelTerm> (*terms)(const ModelCall& call, const MachinePrices& prices);
  /// As its text says, where the print contradicts it; otherwise null.
  std::vector<ModelTerm> (*terms_by_the_text)(const ModelCall& call,
                                              const MachinePrices& prices) = nullptr;
  std::string_view contradiction = {};  ///< What is different then.
  /// What is sent between P nodes of one member. Null if the paper has times.
  models::Transmissions (*transmissions)(int P) = nullptr;
  Visibility visibility = Visibility::direct;  ///< How the paper's processes share memory.
  bool has_one_process = false;                ///< On each node: all messages cross the network.
  int most_lanes = 1;                          ///< Leaders, or colours: kAnyLanes, or the paper's.
  bool is_pipelined = false;                   ///< Whether it cuts vectors into parts.
  bool knows_domains = false;                  ///< And cuts a node's blocks among its leaders.

  /// The paper's number of lanes, or a leader in every process as far as there is work for it.
  int usual_lanes(int nodes, int members) const;
};

/// All of them, a paper after the other.
std::span<const ClosedForm> closed_forms() noexcept;

/// The form of an algorithm, or of the first one of the collective that has one if `algorithm` is
/// "". Throws Error (invalid_argument) that lists the collective's if there is none.
const ClosedForm& find_closed_form(Collective collective, std::string_view algorithm);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MODELLING_CLOSED_FORMS_H_
