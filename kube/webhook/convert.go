package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	coreconversion "sigs.k8s.io/cluster-api/core/webhooks/conversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	"github.com/muster-project/muster/kube/machinepool/contract"
)

// converters are cluster-api's own, by kind, some of which keep more (keeping). Muster's kinds convert themselves: the
// handler finds their hub in the scheme.
func converters() map[schema.GroupKind]converter {
	core := func(kind string) schema.GroupKind { return clusterv1.GroupVersion.WithKind(kind).GroupKind() }
	bootstrap := func(kind string) schema.GroupKind { return bootstrapv1.GroupVersion.WithKind(kind).GroupKind() }
	return map[schema.GroupKind]converter{
		core("Cluster"):                    cluster(),
		core("ClusterClass"):               coreconversion.ClusterClass,
		core("Machine"):                    coreconversion.Machine,
		core("MachineSet"):                 coreconversion.MachineSet,
		core("MachineDeployment"):          machineDeployment(),
		core("MachinePool"):                machinePool(),
		core("MachineHealthCheck"):         coreconversion.MachineHealthCheck,
		core("MachineDrainRule"):           coreconversion.MachineDrainRule,
		bootstrap("KubeadmConfig"):         kubeadmConfig(),
		bootstrap("KubeadmConfigTemplate"): kubeadmConfigTemplate(),
	}
}

func addConverters(scheme *runtime.Scheme, registry conversion.Registry) error {
	lookUpVersions()
	for gk, build := range converters() {
		converter, err := build(scheme)
		if err != nil {
			return fmt.Errorf("convert %s: %w", gk, err)
		}
		if err := registry.RegisterConverter(gk, converter); err != nil {
			return err
		}
	}
	return nil
}

// readerKey is the key of the reader in the context of a conversion.
type readerKey struct{}

// withReader hands a reader to the conversions of one handler. cluster-api keeps its look-up in a variable of the whole
// process; through the context each manager still looks in its own cluster.
func withReader(r client.Reader, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		next.ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), readerKey{}, r)))
	})
}

// lookUpVersions tells cluster-api's conversions how to look up the version that older references hold, once.
var lookUpVersions = sync.OnceFunc(func() { coreconversion.SetAPIVersionGetter(apiVersion) })

// fallbackVersion is the version in a reference whose kind is not installed or names no version. When the reference is read back only the
// group and the kind count, and an object that can't be read at all can't be put right or deleted either.
const fallbackVersion = "v1beta1"

func apiVersion(ctx context.Context, gk schema.GroupKind) (string, error) {
	r, ok := ctx.Value(readerKey{}).(client.Reader)
	if !ok {
		return "", fmt.Errorf("look up the version of %s: no reader in the context of the conversion", gk)
	}
	v, err := contract.APIVersion(ctx, r, gk)
	if errors.Is(err, contract.ErrNoKind) || errors.Is(err, contract.ErrNoVersion) {
		return gk.WithVersion(fallbackVersion).GroupVersion().String(), nil
	}
	return v, err
}
