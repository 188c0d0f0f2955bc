// Which closed form belongs to which algorithm, and what the papers' symbols are among hycoll's
// prices: docs/models.md has the table.

#include "tools/command/modelling/closed_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/base/errors.h"
#include "core/models/blue_gene.h"
#include "core/models/dpml.h"
#include "core/models/onmpml.h"
#include "core/models/ring.h"

namespace hycoll::command {
namespace {

using Terms = std::vector<ModelTerm>;

double us_per_byte(double gb_per_s) { return 1e-3 / gb_per_s; }

/// Of one message that meets no other one.
double network_us_per_byte(const MachinePrices& prices) {
  return us_per_byte(std::min(prices.endpoint_gb_per_s, prices.bandwidth_gb_per_s));
}

models::DpmlSymbols dpml_symbols(const ModelCall& call, const MachinePrices& prices) {
  return {.p = call.nodes * call.members,
          .h = call.nodes,
          .l = call.lanes,
          .n = call.size_bytes,
          .a = prices.alpha_us,
          .b = network_us_per_byte(prices),
          .a_prime = prices.wait_us,
          .b_prime = us_per_byte(prices.copy_gb_per_s),
          .c = us_per_byte(prices.reduce_gb_per_s),
          .k = call.segments};
}

Terms recursive_doubling(const ModelCall& call, const MachinePrices& prices) {
  return {{"T_r.d", "(1)", models::recursive_doubling_us(dpml_symbols(call, prices))}};
}

using DpmlPhase = double (*)(const models::DpmlSymbols&);

template <DpmlPhase computation, DpmlPhase exchange>
Terms dpml(const ModelCall& call, const MachinePrices& prices) {
  const models::DpmlSymbols symbols = dpml_symbols(call, prices);
  constexpr bool is_pipelined = exchange == models::pipelined_exchange_us;
  constexpr bool is_by_the_text = computation == models::computation_by_the_text_us;
  return {{"T_copy", "(2)", models::copy_us(symbols)},
          {"T_comp", is_by_the_text ? "4.1, 5.2" : "(3)", computation(symbols)},
          {is_pipelined ? "T_comm_k" : "T_comm", is_pipelined ? "(5)" : "(4)", exchange(symbols)},
          {"T_bcast", "(6)", models::broadcast_us(symbols)}};
}

/// LogP: a short message takes L + 2 o, and the next one can follow after g. So L + o + g is alpha,
/// what a message takes here.
models::OnmpmlSymbols onmpml_symbols(const ModelCall& call, const MachinePrices& prices) {
  const double copy = us_per_byte(prices.copy_gb_per_s);
  return {
      .M = call.nodes,
      .ppn = call.members,
      .nn = call.domains,
      .ln = call.lanes,
      .sz = call.size_bytes / (call.nodes * call.members),
      .b_prime = copy,
      .network = {.L = prices.alpha_us - 2 * prices.message_us,
                  .o = prices.message_us,
                  .g = prices.message_us,
                  .G = us_per_byte(prices.bandwidth_gb_per_s)},
      .inside = {.o = prices.wait_us, .copy = copy, .memory = us_per_byte(prices.memory_gb_per_s)}};
}

Terms direct_alltoall(const ModelCall& call, const MachinePrices& prices) {
  return {{"T_d-a2a", "(6)", models::direct_us(onmpml_symbols(call, prices))}};
}

Terms l_a2a(const ModelCall& call, const MachinePrices& prices) {
  const models::OnmpmlSymbols symbols = onmpml_symbols(call, prices);
  return {{"gather", "(7)", symbols.M * models::leader_gather_us(symbols)},
          {"transpose", "(7)", symbols.M * models::transposition_us(symbols)},
          {"inter-node", "(7)", models::leader_exchange_us(symbols)},
          {"scatter", "(7)", symbols.M * models::leader_gather_us(symbols)}};
}

/// MPML on one NUMA domain, where equation 9 is equation 8, and NMPML on several.
Terms mpml(const ModelCall& call, const MachinePrices& prices) {
  const models::OnmpmlSymbols symbols = onmpml_symbols(call, prices);
  const bool is_spread = symbols.nn > 1;
  const std::string_view equation = is_spread ? "(9)" : "(8)";
  const double blocks = static_cast<double>(symbols.M) / symbols.ln;
  const double gather_us = blocks * (is_spread ? models::spread_gather_us(symbols)
                                               : models::contiguous_gather_us(symbols));
  return {{"gather", equation, gather_us},
          {"transpose", equation, blocks * models::transposition_us(symbols)},
          {"inter-node", equation, models::multi_port_exchange_us(symbols)},
          {"scatter", equation, gather_us}};
}

template <double (*overlapped_inside)(const models::OnmpmlSymbols&)>
Terms onmpml(const ModelCall& call, const MachinePrices& prices) {
  const models::OnmpmlSymbols symbols = onmpml_symbols(call, prices);
  const double inter_us = models::multi_port_exchange_us(symbols);
  const double intra_us = overlapped_inside(symbols);
  return {{"T_start", "6.6", models::start_us(symbols)},
          {"T_inter", "6.6", inter_us, inter_us < intra_us},
          {"T_intra", "6.6", intra_us, intra_us <= inter_us},
          {"T_end", "6.6", models::end_us(symbols)}};
}

Terms ring(const ModelCall& call, const MachinePrices& prices) {
  const models::RingSymbols symbols{.N = call.nodes * call.members,
                                    .X = call.size_bytes / call.item_bytes,
                                    .itsize = call.item_bytes,
                                    .beta = network_us_per_byte(prices)};
  const double bound_us = models::lower_bound_us(symbols);
  const double half_us = models::half_ring_us(symbols);
  return {{"reduce-scatter", "theorem 1", half_us},
          {"all-gather", "theorem 1", half_us},
          {"lower bound", "lemma 5", bound_us, true}};
}

models::Transmissions operator+(models::Transmissions a, models::Transmissions b) {
  return {a.messages + b.messages, a.chunks + b.chunks};
}

models::Transmissions native_broadcast(int P) {
  return models::scatter(P) + models::native_ring(P);
}

models::Transmissions tuned_broadcast(int P) { return models::scatter(P) + models::tuned_ring(P); }

/// A node's card stands for all of its links: each colour's has a part of its rate.
models::BlueGeneSymbols blue_gene_symbols(const ModelCall& call, const MachinePrices& prices) {
  const double card = us_per_byte(prices.bandwidth_gb_per_s);
  return {.processes = call.members,
          .colours = call.lanes,
          .n = call.size_bytes,
          .link = card * call.lanes,
          .network = card,
          .copy = us_per_byte(prices.copy_gb_per_s),
          .reduce = us_per_byte(prices.reduce_gb_per_s)};
}

/// Of phases that run at the same time only the longest counts.
Terms pipelined(Terms terms) {
  const auto longest = std::ranges::max_element(terms, {}, &ModelTerm::time_us);
  for (auto term = terms.begin(); term != terms.end(); ++term) {
    term->is_overlapped = term != longest;
  }
  return terms;
}

Terms torus_fifo(const ModelCall& call, const MachinePrices& prices) {
  const models::BlueGeneSymbols symbols = blue_gene_symbols(call, prices);
  return pipelined({{"torus", "5.A", models::torus_broadcast_us(symbols)},
                    {"into the FIFO", "5.A", models::enqueueing_us(symbols)},
                    {"out of it", "5.A", models::copying_out_us(symbols)}});
}

Terms torus_shared_address(const ModelCall& call, const MachinePrices& prices) {
  const models::BlueGeneSymbols symbols = blue_gene_symbols(call, prices);
  return pipelined({{"torus", "5.A", models::torus_broadcast_us(symbols)},
                    {"copies", "5.A", models::copying_out_us(symbols)}});
}

Terms core_specialised(const ModelCall& call, const MachinePrices& prices) {
  if (call.members < 3) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("--members {}: section 5.B has a process that injects, one that "
                            "receives and one that copies for both. Give 3 or more",
                            call.members));
  }
  const models::BlueGeneSymbols symbols = blue_gene_symbols(call, prices);
  const double network_us = models::collective_network_us(symbols);
  return pipelined({{"injection", "5.B", network_us},
                    {"reception", "5.B", network_us},
                    {"two copies", "5.B", models::copying_twice_us(symbols)}});
}

/// The cores that reduce a colour copy afterwards, while the master drives the network.
Terms colour_rings(const ModelCall& call, const MachinePrices& prices) {
  const models::BlueGeneSymbols symbols = blue_gene_symbols(call, prices);
  const double network_us = models::torus_allreduce_us(symbols);
  const double reduction_us = models::local_reduction_us(symbols);
  const double copies_us = models::local_broadcast_us(symbols);
  const bool is_of_network = network_us >= reduction_us + copies_us;
  return {{"local reduce", "5.C", reduction_us, is_of_network},
          {"network allreduce", "5.C", network_us, !is_of_network},
          {"local broadcast", "5.C", copies_us, is_of_network}};
}

constexpr std::string_view kDpml = "DPML";
constexpr std::string_view kOnmpml = "ONMPML";
constexpr std::string_view kBlueGene = "Blue Gene/P";
constexpr std::string_view kSlides = "broadcast slides";

constexpr ClosedForm of_dpml(std::string_view algorithm, std::string_view equations,
                             Terms (*terms)(const ModelCall&, const MachinePrices&),
                             Terms (*by_the_text)(const ModelCall&, const MachinePrices&)) {
  return {.collective = Collective::allreduce,
          .algorithm = algorithm,
          .paper = kDpml,
          .equations = equations,
          .terms = terms,
          .terms_by_the_text = by_the_text,
          .contradiction = "T_comp = (p / h - 1) (n / l) c, in the place of (3)",
          .visibility = Visibility::staged,
          .most_lanes = kAnyLanes};
}

constexpr ClosedForm of_slides(std::string_view algorithm, std::string_view slides,
                               models::Transmissions (*transmissions)(int)) {
  return {.collective = Collective::broadcast,
          .algorithm = algorithm,
          .paper = kSlides,
          .equations = slides,
          .terms = nullptr,
          .transmissions = transmissions,
          .has_one_process = true};
}

constexpr ClosedForm of_blue_gene(Collective collective, std::string_view algorithm,
                                  std::string_view section, int most_lanes,
                                  Terms (*terms)(const ModelCall&, const MachinePrices&)) {
  return {.collective = collective,
          .algorithm = algorithm,
          .paper = kBlueGene,
          .equations = section,
          .terms = terms,
          .most_lanes = most_lanes,
          .is_pipelined = true};
}

constexpr ClosedForm kPipelinedDpml = [] {
  ClosedForm form =
      of_dpml("dpml-pipelined-recursive-doubling", "(2), (3), (5), (6)",
              dpml<models::computation_us, models::pipelined_exchange_us>,
              dpml<models::computation_by_the_text_us, models::pipelined_exchange_us>);
  form.is_pipelined = true;
  return form;
}();

constexpr ClosedForm kSingleLeader = [] {
  ClosedForm form = of_dpml("single-leader-recursive-doubling", "(7)",
                            dpml<models::computation_us, models::exchange_us>, nullptr);
  form.contradiction = {};
  form.most_lanes = 1;
  return form;
}();

constexpr std::array kForms = {
    of_dpml("dpml-recursive-doubling", "(7)", dpml<models::computation_us, models::exchange_us>,
            dpml<models::computation_by_the_text_us, models::exchange_us>),
    kPipelinedDpml,
    kSingleLeader,
    ClosedForm{.collective = Collective::allreduce,
               .algorithm = "recursive-doubling",
               .paper = kDpml,
               .equations = "(1)",
               .terms = recursive_doubling,
               .has_one_process = true},
    ClosedForm{.collective = Collective::allreduce,
               .algorithm = "ring",
               .paper = "ring paper",
               .equations = "theorem 1",
               .terms = ring,
               .has_one_process = true},
    of_blue_gene(Collective::allreduce, "colour-rings", "5.C", 3, colour_rings),
    of_slides("scatter-ring-allgather", "slides 9, 10", native_broadcast),
    of_slides("scatter-ring-allgather-opt", "slides 13 to 15", tuned_broadcast),
    of_blue_gene(Collective::broadcast, "torus-colours", "5.A, shared address", 6,
                 torus_shared_address),
    of_blue_gene(Collective::broadcast, "fifo-torus-colours", "5.A, Bcast FIFO", 6, torus_fifo),
    of_blue_gene(Collective::broadcast, "core-specialised", "5.B, shared address", 2,
                 core_specialised),
    ClosedForm{.collective = Collective::alltoall,
               .algorithm = "onmpml",
               .paper = kOnmpml,
               .equations = "section 6.6",
               .terms = onmpml<models::overlapped_inside_us>,
               .terms_by_the_text = onmpml<models::overlapped_inside_by_the_text_us>,
               .contradiction = "T_intra has 2 M / ln - 2 gathers, so that all parts make up (9)",
               .most_lanes = kAnyLanes,
               .knows_domains = true},
    ClosedForm{.collective = Collective::alltoall,
               .algorithm = "mpml",
               .paper = kOnmpml,
               .equations = "(8), (9)",
               .terms = mpml,
               .most_lanes = kAnyLanes,
               .knows_domains = true},
    ClosedForm{.collective = Collective::alltoall,
               .algorithm = "l-a2a",
               .paper = kOnmpml,
               .equations = "(7)",
               .terms = l_a2a},
    ClosedForm{.collective = Collective::alltoall,
               .algorithm = "pairwise",
               .paper = kOnmpml,
               .equations = "(6)",
               .terms = direct_alltoall,
               .has_one_process = true},
};

}  // namespace

int ClosedForm::usual_lanes(int nodes, int members) const {
  if (most_lanes != kAnyLanes) return most_lanes;
  return knows_domains ? std::min(nodes, members) : members;
}

double sum_us(std::span<const ModelTerm> terms) {
  double sum = 0;
  for (const ModelTerm& term : terms) sum += term.is_overlapped ? 0 : term.time_us;
  return sum;
}

std::span<const ClosedForm> closed_forms() noexcept { return kForms; }

const ClosedForm& find_closed_form(Collective collective, std::string_view algorithm) {
  std::string names;
  for (const ClosedForm& form : kForms) {
    if (form.collective != collective) continue;
    if (algorithm.empty() || form.algorithm == algorithm) return form;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", form.algorithm);
  }
  if (names.empty()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("COLLECTIVE '{}': the papers have closed forms of allreduce, broadcast "
                            "and alltoall only. Give one of them",
                            name_of(collective)));
  }
  throw Error(ErrorKind::invalid_argument,
              fmt::format("--algorithm '{}': the papers have no closed form of it for {}. Give one "
                          "of {}",
                          algorithm, name_of(collective), names));
}

}  // namespace hycoll::command
