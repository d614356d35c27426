#!/usr/bin/env bash
# Generates deepcopy functions and custom resource definitions from the Go types. A second run changes nothing; that a
# run changes nothing at all is what `make verify` holds.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=hack/tools
mkdir -p bin
(cd $tools && go build -o ../../bin/controller-gen sigs.k8s.io/controller-tools/cmd/controller-gen && go build -o ../../bin/crds ./crds)

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# Our types.
ours=(./api/common/... ./api/aws/...)
[ -d api/local ] && ours+=(./api/local/...)
paths=()
for path in "${ours[@]}"; do paths+=("paths=$path"); done
bin/controller-gen object "${paths[@]}"
bin/controller-gen crd:crdVersions=v1 "${paths[@]}" output:crd:dir="$out/ours"

# The cluster-api kinds of the local world, as the required version of cluster-api has them; descriptions are left out.
bin/controller-gen crd:crdVersions=v1,maxDescLen=0 \
  paths=sigs.k8s.io/cluster-api/api/core/v1beta1 paths=sigs.k8s.io/cluster-api/api/core/v1beta2 \
  paths=sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1 paths=sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2 \
  output:crd:dir="$out/upstream"

rm -f api/crd/*.yaml
for file in "$out"/ours/*.yaml; do
  bin/crds -from "$out/ours" -to api/crd "$(basename "$file")"
done
bin/crds -from "$out/upstream" -to api/crd \
  -label cluster.x-k8s.io/v1beta1=v1beta1 -label cluster.x-k8s.io/v1beta2=v1beta2 \
  cluster.x-k8s.io_{clusterclasses,clusters,machinedeployments,machinedrainrules,machinehealthchecks,machinepools,machines,machinesets}.yaml \
  bootstrap.cluster.x-k8s.io_{kubeadmconfigs,kubeadmconfigtemplates}.yaml
