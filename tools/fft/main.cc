// hycoll_fft: a Fourier transform whose transposes go through hycoll and, for comparison, through
// MPI.
#include "tools/fft/program.h"

int main(int argc, char** argv) { return hycoll::fft::run_program(argc, argv); }
