#include "tools/command/modelling/model_comparison.h"

#include <fmt/format.h>

#include "collectives/algorithms/registry.h"
#include "collectives/selection/selection.h"
#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "tools/command/pricing/plan_price.h"
#include "tools/command/proving/broadcast_traffic.h"

namespace hycoll::command {
namespace {

void check_question(const ModelQuestion& question) {
  const ModelCall& call = question.call;
  const ClosedForm& form = *question.form;
  const auto refuse = [](std::string text) { throw Error(ErrorKind::invalid_argument, text); };
  if (form.has_one_process && call.members > 1) {
    refuse(
        fmt::format("--members {}: by {} of {} every process sends over the network. Give 1, "
                    "or leave it away",
                    call.members, form.algorithm, form.paper));
  }
  if (call.lanes > form.most_lanes) {
    refuse(fmt::format("--lanes {}: {} of {} has at most {}. Give no more, or leave it away",
                       call.lanes, form.algorithm, form.paper, form.most_lanes));
  }
  if (form.knows_domains && call.lanes > call.nodes) {
    refuse(
        fmt::format("--lanes {}: by the equations each leader gathers M / ln = {} / {} blocks. "
                    "Give at most {} lanes, or more nodes",
                    call.lanes, call.nodes, call.lanes, call.nodes));
  }
  if (call.domains > 1 && !form.knows_domains) {
    refuse(
        fmt::format("--domains {}: only the equations of onmpml and mpml have NUMA domains. "
                    "Leave it away",
                    call.domains));
  }
  if (call.domains > call.members) {
    refuse(
        fmt::format("--domains {}: a node has {} members, at least one in each domain. Give at "
                    "most {}",
                    call.domains, call.members, call.members));
  }
  const auto member_count = static_cast<std::size_t>(call.nodes * call.members);
  for (const std::size_t size_bytes : question.sizes) {
    if (has_pairs(form.collective) && size_bytes < member_count) {
      refuse(
          fmt::format("--sizes: {} bytes are less than one for each of {} members. Give sizes "
                      "of {} and more",
                      size_bytes, member_count, member_count));
    }
  }
}

PriceQuestion price_question(const ModelQuestion& question, std::size_t size_bytes) {
  const ModelCall& call = question.call;
  return {.collective = question.form->collective,
          .nodes = {{{call.members, call.members}, call.nodes}},
          .size_bytes = size_bytes,
          .requested_lanes = call.lanes,
          .visibility = question.visibility};
}

int segments_of(const ModelQuestion& question, const PriceQuestion& priced) {
  if (question.requested_segments > 0) return question.requested_segments;
  if (!question.form->is_pipelined) return 1;
  return select({.collective = priced.collective,
                 .nodes = priced.nodes,
                 .size_bytes = priced.size_bytes,
                 .requested_lanes = priced.requested_lanes,
                 .requested_algorithm = question.form->algorithm,
                 .visibility = priced.visibility})
      .segments;
}

/// What the nodes' parts of the schedule send: the whole one may be too long for memory.
std::vector<SentInAll> count_sent(const Algorithm& algorithm, int nodes,
                                  const std::vector<std::size_t>& sizes) {
  const Shape shape = Shape::uniform(nodes, 1, 1);
  std::vector<SentInAll> sent(sizes.size());
  for (int node = 0; node < nodes; ++node) {
    const Schedule part = algorithm.generate(shape, 1, 0, only_node(node));
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      const Traffic traffic = traffic_of(part, sizes[s]);
      sent[s].messages += static_cast<double>(traffic.message_count);
      sent[s].bytes += static_cast<double>(traffic.sent_bytes);
    }
  }
  return sent;
}

}  // namespace

std::vector<ModelPoint> compare_with_walk(const ModelQuestion& question,
                                          const MachinePrices& prices) {
  check_question(question);
  const ClosedForm& form = *question.form;
  const Algorithm& algorithm = find_algorithm(form.collective, form.algorithm);
  const Shape shape(price_question(question, 0).nodes, question.call.lanes);
  if (!algorithm.serves_shape(shape)) algorithm.generate(shape);  // throws: it does not serve
  const bool counts = form.transmissions != nullptr;
  const std::vector<SentInAll> counted =
      counts ? count_sent(algorithm, question.call.nodes, question.sizes)
             : std::vector<SentInAll>(question.sizes.size());
  PlanPricer pricer(prices);
  std::vector<ModelPoint> points;
  for (const std::size_t size_bytes : question.sizes) {
    const PriceQuestion priced = price_question(question, size_bytes);
    ModelPoint point;
    point.size_bytes = size_bytes;
    point.segments = segments_of(question, priced);
    ModelCall call = question.call;
    call.size_bytes = static_cast<double>(size_bytes);
    call.segments = point.segments;
    if (form.terms != nullptr) {
      point.terms = form.terms(call, prices);
      point.model_us = sum_us(point.terms);
    }
    if (form.terms_by_the_text != nullptr) {
      point.by_the_text_us = sum_us(form.terms_by_the_text(call, prices));
    }
    if (counts) {
      const models::Transmissions sent = form.transmissions(call.nodes);
      point.modelled = {sent.messages, sent.chunks * call.size_bytes / call.nodes};
      point.counted = counted[points.size()];
    }
    point.walk_us = pricer.price_us(algorithm, priced, call.lanes, call.segments);
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace hycoll::command
