// Nonblocking and persistent calls under way.
#include <mpi.h>

#include <exception>
#include <span>
#include <thread>

#include "collectives/c_interface/guard.h"
#include "collectives/c_interface/hycoll.h"

namespace hycoll::c_interface {
namespace {

RequestObject& request_of(const hycoll_request& request) {
  return object_of<RequestObject>(Kind::request, "request", request.handle);
}

/// Of a nonblocking call; a persistent one's stays.
void let_go(hycoll_request& request, RequestObject& object) {
  if (object.is_persistent()) return;
  Handles::instance().remove(request.handle);
  request = {0};
  delete &object;
}

/// Whether a request is one that may be waited for.
bool is_active(const hycoll_request& request) {
  return request.handle != 0 && request_of(request).is_active();
}

/// Waits, and lets go of what has completed, with an error too.
void wait_for(hycoll_request& request) {
  if (!is_active(request)) return;
  RequestObject& object = request_of(request);
  try {
    object.wait();
  } catch (...) {
    let_go(request, object);
    throw;
  }
  let_go(request, object);
}

/// Whether it has completed; then as wait_for().
bool test(hycoll_request& request) {
  if (is_active(request) && !request_of(request).has_completed()) return false;
  wait_for(request);
  return true;
}

std::span<hycoll_request> requests_of(int count, hycoll_request* requests) {
  const std::size_t size = size_of_count("count", count);
  if (size > 0) require_pointer("requests", requests);
  return {requests, size};
}

/// Calls `complete` for each request; then throws the first exception that it has met.
template <class Complete>
void for_all(std::span<hycoll_request> requests, const Complete& complete) {
  std::exception_ptr first;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    try {
      complete(i, requests[i]);
    } catch (...) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  if (first != nullptr) std::rethrow_exception(first);
}

}  // namespace
}  // namespace hycoll::c_interface

extern "C" {

using namespace hycoll::c_interface;  // NOLINT: of this file's functions

int hycoll_wait(hycoll_request* request) {
  return guarded(__func__, [&] {
    require_pointer("request", request);
    wait_for(*request);
  });
}

int hycoll_test(hycoll_request* request, int* flag) {
  return guarded(__func__, [&] {
    require_pointer("request", request);
    require_pointer("flag", flag);
    *flag = 1;  // with an error, too
    *flag = test(*request) ? 1 : 0;
  });
}

int hycoll_waitall(int count, hycoll_request* requests) {
  return guarded(__func__, [&] {
    for_all(requests_of(count, requests),
            [](std::size_t, hycoll_request& request) { wait_for(request); });
  });
}

int hycoll_waitany(int count, hycoll_request* requests, int* index) {
  return guarded(__func__, [&] {
    require_pointer("index", index);
    *index = MPI_UNDEFINED;
    const std::span<hycoll_request> all = requests_of(count, requests);
    for (bool are_left = true; are_left; std::this_thread::yield()) {
      are_left = false;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (!is_active(all[i])) continue;
        are_left = true;
        *index = static_cast<int>(i);  // with an error, too
        if (test(all[i])) return;
      }
      *index = MPI_UNDEFINED;
    }
  });
}

int hycoll_testall(int count, hycoll_request* requests, int* flag) {
  return guarded(__func__, [&] {
    require_pointer("flag", flag);
    *flag = 0;
    const std::span<hycoll_request> all = requests_of(count, requests);
    for (const hycoll_request& request : all) {
      if (is_active(request) && !request_of(request).has_completed()) return;
    }
    *flag = 1;
    for_all(all, [](std::size_t, hycoll_request& request) { wait_for(request); });
  });
}

int hycoll_testsome(int count, hycoll_request* requests, int* outcount, int* indices) {
  return guarded(__func__, [&] {
    require_pointer("outcount", outcount);
    *outcount = MPI_UNDEFINED;
    const std::span<hycoll_request> all = requests_of(count, requests);
    if (count > 0) require_pointer("indices", indices);
    int found = 0;
    bool are_active = false;
    for_all(all, [&](std::size_t i, hycoll_request& request) {
      if (!is_active(request)) return;
      are_active = true;
      if (!request_of(request).has_completed()) return;
      indices[found++] = static_cast<int>(i);
      *outcount = found;  // with an error, too
      wait_for(request);
    });
    if (are_active) *outcount = found;
  });
}

int hycoll_start(hycoll_request* request) {
  return guarded(__func__, [&] {
    require_pointer("request", request);
    RequestObject& object = request_of(*request);
    if (!object.is_persistent() || object.is_active()) {
      throw ArgumentError(MPI_ERR_REQUEST,
                          object.is_persistent()
                              ? "request: its last start has not been waited for"
                              : "request: it is that of a nonblocking call, which has started");
    }
    object.start();
  });
}

int hycoll_request_free(hycoll_request* request) {
  return guarded(__func__, [&] {
    require_pointer("request", request);
    RequestObject& object = request_of(*request);
    if (!object.is_persistent() || object.is_active()) {
      throw ArgumentError(MPI_ERR_REQUEST, "request: its call is under way; wait for it");
    }
    Handles::instance().remove(request->handle);
    *request = {0};
    delete &object;
  });
}

}  // extern "C"
