# find_package(symkit) finds the programs of this installation and defines
#
#   symkit::dump_syms  symkit::symcheck  symkit::stackwalk  symkit::symaddr  symkit::symserve     imported executables
#
#   symkit_add_symbols(<target> [STORE <directory>] [OUTPUT <file>] [NO_CHECK] [ARGS <flag>...])
#
# symkit_add_symbols writes the symbols of a target each time it is linked, into a symbol
# store or, with OUTPUT, into one file. STORE is "symbols" in the build directory unless
# given, or SYMKIT_STORE. The symbols have inlined calls and are verified; if something
# was lost or is wrong, the build fails, unless NO_CHECK is given. ARGS are more flags of
# dump_syms. Compile with -g; strip at installation (cmake --install DIR --strip).
#
# Programs that run on the build machine are needed: where CMAKE_FIND_ROOT_PATH names the
# system that is built for, find_package(symkit) also looks outside of it if symkit_DIR or
# PATH leads to symkit.

cmake_policy(PUSH)
cmake_policy(VERSION 3.16)

get_filename_component(_symkit_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(_symkit_suffix "")
if(CMAKE_HOST_WIN32)
  set(_symkit_suffix ".exe")
endif()
foreach(_symkit_program dump_syms symcheck stackwalk symaddr symserve)
  set(_symkit_path "${_symkit_prefix}/bin/${_symkit_program}${_symkit_suffix}")
  if(NOT EXISTS "${_symkit_path}")
    set(symkit_FOUND FALSE)
    set(symkit_NOT_FOUND_MESSAGE "${_symkit_path} is missing")
  elseif(NOT TARGET symkit::${_symkit_program})
    add_executable(symkit::${_symkit_program} IMPORTED GLOBAL)
    set_target_properties(symkit::${_symkit_program} PROPERTIES IMPORTED_LOCATION "${_symkit_path}")
  endif()
endforeach()

function(symkit_add_symbols target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_CHECK" "STORE;OUTPUT" "ARGS")
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "symkit_add_symbols: there is no target ${target}")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "symkit_add_symbols(${target}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(arg_STORE AND arg_OUTPUT)
    message(FATAL_ERROR "symkit_add_symbols(${target}): STORE and OUTPUT exclude each other")
  endif()

  get_target_property(type "${target}" TYPE)
  if(NOT type MATCHES "^(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)$")
    message(FATAL_ERROR "symkit_add_symbols(${target}): the target is a ${type}; programs and shared libraries have symbols")
  endif()

  set(flags --inlines)
  if(NOT arg_NO_CHECK)
    list(APPEND flags --check --strict)
  endif()
  if(arg_OUTPUT)
    get_filename_component(output "${arg_OUTPUT}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
    list(APPEND flags -o "${output}")
  else()
    set(store "${CMAKE_BINARY_DIR}/symbols")
    if(SYMKIT_STORE)
      set(store "${SYMKIT_STORE}")
    endif()
    if(arg_STORE)
      set(store "${arg_STORE}")
    endif()
    get_filename_component(store "${store}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
    list(APPEND flags -s "${store}")
  endif()

  add_custom_command(TARGET "${target}" POST_BUILD
    COMMAND "$<TARGET_FILE:symkit::dump_syms>" ${flags} ${arg_ARGS} "$<TARGET_FILE:${target}>"
    COMMENT "Symbols of ${target}"
    VERBATIM)
endfunction()

unset(_symkit_prefix)
unset(_symkit_suffix)
unset(_symkit_path)
cmake_policy(POP)
