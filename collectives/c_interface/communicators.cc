// Communicators, teams and their members.
#include <fmt/format.h>
#include <mpi.h>

#include <memory>
#include <numeric>

#include "collectives/c_interface/guard.h"
#include "collectives/c_interface/hycoll.h"
#include "collectives/c_interface/options.h"
#include "collectives/elements/committed.h"

namespace hycoll::c_interface {
namespace {

/// MPI calls this at the beginning of MPI_Finalize.
int end_handles(MPI_Comm /*communicator*/, int /*key*/, void* /*value*/, void* /*state*/) {
  Handles::instance().end_all();
  forget_committed();
  return MPI_SUCCESS;
}

void watch_finalize() {
  // Once: what is made is MPI's.
  static const bool is_watched = [] {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_handles, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    MPI_Comm_free_keyval(&key);
    return true;
  }();
  static_cast<void>(is_watched);
}

void require_mpi() {
  int is_initialized = 0;
  int is_finalized = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  if (is_initialized == 0 || is_finalized != 0) {
    throw ArgumentError(MPI_ERR_OTHER, is_finalized != 0
                                           ? "MPI_Finalize has been called; create before that"
                                           : "MPI is not initialised; call MPI_Init_thread before");
  }
}

void require_parent(MPI_Comm parent) {
  if (parent == MPI_COMM_NULL) {
    throw ArgumentError(MPI_ERR_COMM, "parent is MPI_COMM_NULL; expected a communicator");
  }
}

void require_none_left(int requests) {
  if (requests > 0) {
    throw ArgumentError(MPI_ERR_REQUEST,
                        fmt::format("{} requests of it have not been waited for or freed; do so "
                                    "before",
                                    requests));
  }
}

/// A member that is a process of a communicator.
MemberObject& communicator_of(hycoll_member member) {
  MemberObject& object = member_of(member.handle);
  if (object.communicator() == nullptr) {
    throw ArgumentError(MPI_ERR_COMM,
                        "communicator: the handle is that of a team's member, which ends with "
                        "hycoll_team_free");
  }
  return object;
}

TeamObject& team_of(hycoll_team team) {
  return object_of<TeamObject>(Kind::team, "team", team.handle);
}

}  // namespace
}  // namespace hycoll::c_interface

extern "C" {

using namespace hycoll::c_interface;  // NOLINT: of this file's functions

int hycoll_communicator_create(MPI_Comm parent, const hycoll_options* options,
                               hycoll_member* communicator) {
  return guarded(__func__, [&] {
    require_mpi();
    require_pointer("communicator", communicator);
    *communicator = {0};
    require_parent(parent);
    watch_finalize();
    auto object = std::make_unique<MemberObject>(
        std::make_unique<hycoll::Communicator>(parent, options_of(options)));
    communicator->handle = Handles::instance().add(Kind::member, object.get());
    static_cast<void>(object.release());
  });
}

int hycoll_communicator_free(hycoll_member* communicator) {
  return guarded(__func__, [&] {
    require_pointer("communicator", communicator);
    MemberObject& object = communicator_of(*communicator);
    require_none_left(object.request_count());
    Handles::instance().remove(communicator->handle);
    *communicator = {0};
    delete &object;
  });
}

int hycoll_team_create(MPI_Comm parent, int thread_count, const hycoll_options* options,
                       hycoll_team* team) {
  return guarded(__func__, [&] {
    require_mpi();
    require_pointer("team", team);
    *team = {0};
    require_parent(parent);
    watch_finalize();
    auto object = std::make_unique<TeamObject>(parent, thread_count, options_of(options));
    for (std::size_t i = 0; i < object->members.size(); ++i) {
      object->handles[i] = Handles::instance().add(Kind::member, &object->members[i]);
    }
    team->handle = Handles::instance().add(Kind::team, object.get());
    static_cast<void>(object.release());
  });
}

int hycoll_team_join(hycoll_team team, int thread_index, hycoll_member* member) {
  return guarded(__func__, [&] {
    require_pointer("member", member);
    *member = {0};
    TeamObject& object = team_of(team);
    const hycoll::Member joined = object.team.join(thread_index);
    const auto index = static_cast<std::size_t>(thread_index);
    object.members[index].join(joined);
    member->handle = object.handles[index];
  });
}

int hycoll_team_free(hycoll_team* team) {
  return guarded(__func__, [&] {
    require_pointer("team", team);
    TeamObject& object = team_of(*team);
    require_none_left(std::accumulate(
        object.members.begin(), object.members.end(), 0,
        [](int sum, const MemberObject& member) { return sum + member.request_count(); }));
    for (const std::uint64_t handle : object.handles) Handles::instance().remove(handle);
    Handles::instance().remove(team->handle);
    *team = {0};
    delete &object;
  });
}

int hycoll_rank(hycoll_member member, int* rank) {
  return guarded(__func__, [&] {
    require_pointer("rank", rank);
    *rank = member_of(member.handle).rank();
  });
}

int hycoll_size(hycoll_member member, int* size) {
  return guarded(__func__, [&] {
    require_pointer("size", size);
    *size = member_of(member.handle).size();
  });
}

int hycoll_communicator_serve(hycoll_member communicator) {
  return guarded(__func__, [&] { communicator_of(communicator).communicator()->serve(); });
}

int hycoll_team_serve(hycoll_team team) {
  return guarded(__func__, [&] { team_of(team).team.serve(); });
}

}  // extern "C"
