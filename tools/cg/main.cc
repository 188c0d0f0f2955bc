// hycoll_cg: a hybrid application as users write them, with its dot products through hycoll and,
// for comparison, through MPI.
#include "tools/cg/program.h"

int main(int argc, char** argv) { return hycoll::cg::run_program(argc, argv); }
