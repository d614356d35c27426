package webhook

import (
	"fmt"

	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

// The paths that are served; those of admission are the ecosystem's.
const (
	ConvertPath                 = "/convert"
	DefaultMachinePoolPath      = "/mutate-cluster-x-k8s-io-v1beta2-machinepool"
	DefaultOlderMachinePoolPath = "/mutate-cluster-x-k8s-io-v1beta1-machinepool"
	ValidateMachinePoolPath     = "/validate-cluster-x-k8s-io-v1beta2-machinepool"
)

// Options of the webhooks.
type Options struct {
	// Reader finds the CustomResourceDefinitions that conversions look up, and MachinePools by the instances that they list
	// (nodes.AddIndexes); nil is the manager's client.
	Reader client.Reader
	// Live reads the clusters and control planes that a pool is compared with: a cache that is behind would refuse what
	// is right by now. nil is the manager's reader without a cache.
	Live client.Reader
	// Hooks are the webhooks of infrastructure kinds.
	Hooks []Hook
}

// Register serves the webhooks on the manager's webhook server. The manager's scheme must know every version of every
// kind that is converted. Converters that another package has registered with the manager are left alone: Muster's are a set
// of their own, and the path of conversion must still be free.
func Register(mgr ctrl.Manager, o Options) error {
	if o.Reader == nil {
		o.Reader = mgr.GetClient()
	}
	if o.Live == nil {
		o.Live = mgr.GetAPIReader()
	}
	scheme, server := mgr.GetScheme(), mgr.GetWebhookServer()
	registry := conversion.NewRegistry()
	if err := addConverters(scheme, registry); err != nil {
		return fmt.Errorf("serve conversion: %w", err)
	}
	server.Register(ConvertPath, withReader(o.Reader, namingConversions(scheme, conversion.NewWebhookHandler(scheme, registry))))
	register := func(path string, w *admission.Webhook) { server.Register(path, naming(scheme, w)) }
	register(DefaultMachinePoolPath, recording(admission.WithDefaulter[*clusterv1.MachinePool](scheme,
		&poolDefaulter{decoder: admission.NewDecoder(scheme)})))
	register(DefaultOlderMachinePoolPath, recording(admission.WithDefaulter[*clusterv1beta1.MachinePool](scheme, olderPoolDefaulter{})))
	for _, h := range o.Hooks {
		w := h.Serve(scheme, mgr.GetClient())
		if h.Role == Defaults || h.Role == DefaultsOlder {
			w = recording(w)
		}
		register(h.Path, w)
	}
	register(ValidateMachinePoolPath, admission.WithValidator[*clusterv1.MachinePool](scheme,
		poolValidator{reader: o.Reader, live: o.Live}))
	return nil
}
