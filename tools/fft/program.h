#ifndef HYCOLL_TOOLS_FFT_PROGRAM_H_
#define HYCOLL_TOOLS_FFT_PROGRAM_H_

namespace hycoll::fft {

/// The program hycoll_fft; returns its exit status.
int run_program(int argc, char** argv);

}  // namespace hycoll::fft

#endif  // HYCOLL_TOOLS_FFT_PROGRAM_H_
