#include "tests/threading/orders/orders.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/threading/orders/execution.h"

namespace hycoll::orders {
namespace {

/// The orders that are one step weaker.
std::vector<Order> weaker(Order order) {
  switch (order) {
    case Order::relaxed:
      return {};
    case Order::consume:
    case Order::acquire:
    case Order::release:
      return {Order::relaxed};
    case Order::acq_rel:
      return {Order::acquire, Order::release};
    case Order::seq_cst:
      return {Order::acq_rel};
  }
  return {};
}

/// What acq_rel loses.
const char* lost_by(Order weaker) { return weaker == Order::acquire ? "release" : "acquire"; }

/// The same once more, told.
Failure told_failure(const Setup& setup, const Options& options, const Choices& choices) {
  std::optional<Failure> failure = replay(setup, choices.taken(), options).failure;
  if (!failure) throw std::logic_error("the program does something else when it is repeated");
  return *std::move(failure);
}

std::vector<Ordered> sites_of(const Knowledge& knowledge) {
  std::vector<Ordered> sites;
  std::map<std::string, int> counts;
  for (const auto& [site, order] : knowledge.sites) {
    std::string what = knowledge.names.at(site);
    // In the order in which they stand in their function.
    if (const int count = ++counts[what]; count > 1) what += " (" + std::to_string(count) + ")";
    sites.push_back({.site = site, .order = order, .what = what});
  }
  return sites;
}

/// Returns nothing if more has become known than the first choices were made with.
std::optional<Result> explore_knowing(const Setup& setup, const Options& options,
                                      Knowledge& knowledge) {
  knowledge.has_grown = false;
  Result result;
  Choices choices;
  do {
    // Ended, and its memory as at first, before another one begins.
    const Execution::End end = Execution(setup, options, choices, knowledge, false).run();
    if (end == Execution::End::failed) {
      result.failure = told_failure(setup, options, choices);
      break;
    }
    ++(end == Execution::End::complete ? result.executions : result.abandoned);
    if (result.executions + result.abandoned > options.most_executions)
      throw std::runtime_error("too many executions");
  } while (choices.advance());
  if (knowledge.has_grown && !result.failure) return std::nullopt;
  result.sites = sites_of(knowledge);
  return result;
}

}  // namespace

void require(bool holds, const char* what) {
  Execution* const execution = current() != nullptr ? current() : Execution::checked();
  const Aside aside;
  execution->require(holds, what);
}

void begin_attempt() {
  Execution* const execution = current();
  const Aside aside;
  execution->begin_attempt();
}

void end_attempt() {
  Execution* const execution = current();
  const Aside aside;
  execution->end_attempt();
}

void fail_attempt() {
  Execution* const execution = current();
  const Aside aside;
  execution->fail_attempt();  // does not return
  std::abort();
}

void run_started_thread() { current()->run_started_thread(__builtin_return_address(0)); }

Result explore(const Setup& setup, const Options& options) {
  Knowledge knowledge;
  for (;;) {
    if (auto result = explore_knowing(setup, options, knowledge)) return *std::move(result);
  }
}

Result replay(const Setup& setup, const std::vector<std::size_t>& choices_taken,
              const Options& options) {
  Choices choices(choices_taken);
  Knowledge knowledge;
  knowledge.is_assumed = true;
  Execution execution(setup, options, choices, knowledge, true);
  Result result;
  const Execution::End end = execution.run();
  if (end == Execution::End::failed) {
    result.failure = {
        .what = execution.failure(), .choices = choices.taken(), .trace = execution.trace()};
  }
  result.executions = end == Execution::End::complete ? 1 : 0;
  return result;
}

Weakened weaken_each(const Setup& setup) {
  Weakened weakened;
  for (const Ordered& ordered : explore(setup).sites) {
    for (const Order order : weaker(ordered.order)) {
      const bool fails = explore(setup, {.weakening = {{.site = ordered.site, .order = order}}})
                             .failure.has_value();
      auto& list = fails ? weakened.needed : weakened.not_needed;
      list.push_back(ordered.what + (ordered.order == Order::acq_rel
                                         ? std::string(", its ") + lost_by(order)
                                         : ""));
    }
  }
  std::ranges::sort(weakened.needed);
  std::ranges::sort(weakened.not_needed);
  return weakened;
}

}  // namespace hycoll::orders
