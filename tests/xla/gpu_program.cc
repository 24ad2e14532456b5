// SPDX-License-Identifier: Apache-2.0
// Compiles XLA's program of a function for a GPU that need not be there.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "xla/backends/gpu/target_config/target_config.h"
#include "xla/debug_options_flags.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/service/compiler.h"
#include "xla/service/gpu_topology.h"
#include "xla/stream_executor/platform_manager.h"
#include "xla/tsl/platform/statusor.h"

namespace {

// Returns the compiled program, which has the PTX in it, for an H100.
absl::StatusOr<std::string> Compile(const std::string& serialized_hlo) {
  xla::HloModuleProto proto;
  if (!proto.ParseFromString(serialized_hlo)) {
    return absl::InvalidArgumentError("this is no serialized HloModuleProto");
  }
  TF_ASSIGN_OR_RETURN(auto* platform,
                      stream_executor::PlatformManager::PlatformWithName(
                          "CUDA", /*initialize_platform=*/false));
  TF_ASSIGN_OR_RETURN(auto compiler,
                      xla::Compiler::GetForPlatform(platform->id()));
  TF_ASSIGN_OR_RETURN(auto target_proto, xla::gpu::GetGpuTargetConfig(
                                             xla::gpu::GpuModel::H100_SXM));
  TF_ASSIGN_OR_RETURN(auto target,
                      xla::gpu::GpuTargetConfig::FromProto(target_proto));

  xla::DebugOptions debug_options = xla::GetDebugOptionsFromFlags();
  // Autotuning would run kernels on the GPU.
  debug_options.set_xla_gpu_autotune_level(0);
  TF_ASSIGN_OR_RETURN(auto config, xla::HloModule::CreateModuleConfigFromProto(
                                       proto, debug_options));
  TF_ASSIGN_OR_RETURN(auto module,
                      xla::HloModule::CreateFromProto(proto, config));
  xla::AotCompilationOptions options(platform->id());
  options.set_gpu_topology(xla::GetSingleDeviceGpuTopology("CUDA", target));
  TF_ASSIGN_OR_RETURN(auto results,
                      compiler->CompileAheadOfTime(std::move(module), options));
  return results[0]->SerializeAsString();
}

}  // namespace

// For ctypes: compiles `size` bytes of HLO. Returns whether that went well;
// `*result` is the program, or what went wrong, until the next call.
extern "C" __attribute__((visibility("default"))) bool CompileGpuProgram(
    const char* hlo, size_t size, const char** result, size_t* result_size) {
  static auto* text = new std::string;
  absl::StatusOr<std::string> program = Compile(std::string(hlo, size));
  *text = program.ok() ? *program : std::string(program.status().message());
  *result = text->data();
  *result_size = text->size();
  return program.ok();
}
