#ifndef HYCOLL_CORE_MODELS_ONMPML_H_
#define HYCOLL_CORE_MODELS_ONMPML_H_

namespace hycoll::models {

/// Messages between nodes, as the paper takes them from LogP, with G for bytes (LogGP).
/// Microseconds, and microseconds per byte.
struct LogP {
  double L = 0;  ///< Latency.
  double o = 0;  ///< Overhead of the sender, or of the receiver.
  double g = 0;  ///< Gap between consecutive messages.
  double G = 0;  ///< Gap per byte.
};

/// Transfers inside a node, as the paper takes them from tau-Lop. The paper leaves the cost L(m,
/// tau) of tau concurrent transfers to measurements, between the bounds of its equation 1: L(m, 1)
/// <= L(m, A) <= A L(m, 1). Here it is that of cores that copy at a rate of their own, from a
/// memory that has a rate for all of them. Microseconds, and microseconds per byte.
struct TauLop {
  double o = 0;       ///< o(m): from the call to the first byte, for any m.
  double copy = 0;    ///< Per byte of one core.
  double memory = 0;  ///< Per byte of all cores together; 0: memory keeps nobody waiting.
};

/// What the direct pairwise and the leader-based all-to-alls depend on. All functions of this file
/// are pure, and in microseconds.
///
/// Source: ONMPML, the paper of the overlapped NUMA-aware multi-port multi-leader all-to-all,
/// section 6: the parameters of 6.1, equations 1 to 9, and those of 6.6 without a number.
struct OnmpmlSymbols {
  int M = 1;           ///< Nodes.
  int ppn = 1;         ///< Processes in each node; p = M ppn.
  int nn = 1;          ///< NUMA domains in each node; n1 = ppn / nn processes in each.
  int ln = 1;          ///< Leaders, and network endpoints, of each node.
  double sz = 0;       ///< Bytes from one process to another.
  double b_prime = 0;  ///< b': what transposing a byte takes.
  LogP network;
  TauLop inside;
};

/// L(m, tau), where each core drives `of_one_core` of the transfers, one after the other.
double concurrent_transfers_us(const TauLop& inside, double m, double tau, double of_one_core);

/// Equation 4, A || T(m), for n = 1 (whoever needs the data reads them where they are) and k = 1
/// segment: o(m) + L(m, A). A leader drives `of_one_core` of the messages.
double concurrent_messages_us(const TauLop& inside, double m, double messages, double of_one_core);

/// Equation 6, direct pairwise, in the form without approximation: ppn (p - ppn) (L + G (sz - 1)) +
/// (p - 1) (o + g).
double direct_us(const OnmpmlSymbols& symbols);

/// What gathering the block for one node takes, which is also what scattering takes: ppn || T(sz
/// ppn) in L-a2a; (ppn ln) || T(sz ppn) in MPML, whose leaders are all on one NUMA domain; (ppn +
/// (ln - 1) n1) || T(sz ppn) in NMPML and ONMPML.
double leader_gather_us(const OnmpmlSymbols& symbols);
double contiguous_gather_us(const OnmpmlSymbols& symbols);
double spread_gather_us(const OnmpmlSymbols& symbols);

/// What transposing the block for one node takes: b' sz ppn^2.
double transposition_us(const OnmpmlSymbols& symbols);

/// Inter-node pairwise all-to-all of L-a2a: (M - 1) (L + o + (sz ppn^2 - 1) G + g).
double leader_exchange_us(const OnmpmlSymbols& symbols);

/// That of MPML, NMPML and ONMPML (T_inter): (M - 1) (L + o / ln + (sz ppn^2 - 1) G + g / ln).
double multi_port_exchange_us(const OnmpmlSymbols& symbols);

/// Equation 7, L-a2a: M gathers, M transpositions, the exchange, M scatters.
double l_a2a_us(const OnmpmlSymbols& symbols);

/// Equation 8, MPML: M / ln of each instead.
double mpml_us(const OnmpmlSymbols& symbols);

/// Equation 9, NMPML.
double nmpml_us(const OnmpmlSymbols& symbols);

/// Section 6.6, the parts of ONMPML: T_start, the first gathering; T_end, the last transposition
/// and scattering; and T_intra, what of the others overlaps with T_inter, as printed: (2 M / ln -
/// 1) gathers and (M / ln - 1) transpositions.
double start_us(const OnmpmlSymbols& symbols);
double end_us(const OnmpmlSymbols& symbols);
double overlapped_inside_us(const OnmpmlSymbols& symbols);

/// T_intra as the text implies it: T_start and T_end have two gathers, or scatters, and equation 9
/// has 2 M / ln of them, so that 2 M / ln - 2 are left. Only with these is T_NMPML the sum of all
/// parts, as section 6.6 says.
double overlapped_inside_by_the_text_us(const OnmpmlSymbols& symbols);

/// T_ONMPML = T_start + max(T_inter, T_intra) + T_end, as printed.
double onmpml_us(const OnmpmlSymbols& symbols);

}  // namespace hycoll::models

#endif  // HYCOLL_CORE_MODELS_ONMPML_H_
