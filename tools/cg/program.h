#ifndef HYCOLL_TOOLS_CG_PROGRAM_H_
#define HYCOLL_TOOLS_CG_PROGRAM_H_

namespace hycoll::cg {

/// All of hycoll_cg: initialises MPI, does what the command line says, finalises MPI. Returns the
/// exit status: 0 if all reductions led to the same residual, 1 if not, 2 if the input is unusable.
int run_program(int argc, char** argv);

}  // namespace hycoll::cg

#endif  // HYCOLL_TOOLS_CG_PROGRAM_H_
