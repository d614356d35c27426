package webhook

import (
	"context"
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	conversionutil "sigs.k8s.io/cluster-api/util/conversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/machinepool/contract"
)

// referencesAnnotation stores, on an object in the storage version, the parts of its references that only the older version has. The older
// version shows them again, so that applying the same manifest a second time changes nothing.
const referencesAnnotation = "muster.dev/written-references"

// writtenReference holds these parts of one reference. They are valid while the reference has the same group and kind.
type writtenReference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Namespace is set if it is another one than the object's: it has no effect.
	Namespace string `json:"namespace,omitempty"`
}

// poolReferences are the references of a MachinePool in the older version, by their paths.
func poolReferences(p *clusterv1beta1.MachinePool) map[string]*corev1.ObjectReference {
	machine := &p.Spec.Template.Spec
	return map[string]*corev1.ObjectReference{"spec.template.spec.infrastructureRef": &machine.InfrastructureRef,
		"spec.template.spec.bootstrap.configRef": machine.Bootstrap.ConfigRef}
}

func deploymentReferences(d *clusterv1beta1.MachineDeployment) map[string]*corev1.ObjectReference {
	machine := &d.Spec.Template.Spec
	return map[string]*corev1.ObjectReference{"spec.template.spec.infrastructureRef": &machine.InfrastructureRef,
		"spec.template.spec.bootstrap.configRef": machine.Bootstrap.ConfigRef}
}

func clusterReferences(c *clusterv1beta1.Cluster) map[string]*corev1.ObjectReference {
	return map[string]*corev1.ObjectReference{"spec.infrastructureRef": c.Spec.InfrastructureRef,
		"spec.controlPlaneRef": c.Spec.ControlPlaneRef}
}

// rememberReferences wraps a conversion to the version that is stored: it remembers what references say that it drops.
func rememberReferences[H, S client.Object](references func(S) map[string]*corev1.ObjectReference,
	toHub func(context.Context, S, H) error) func(context.Context, S, H) error {
	return func(ctx context.Context, src S, dst H) error {
		byPath := map[string]writtenReference{}
		for path, ref := range references(src) {
			if w, ok := dropped(ctx, ref, src); ok {
				byPath[path] = w
			}
		}
		if err := toHub(ctx, src, dst); err != nil {
			return err
		}
		return annotate(dst, byPath)
	}
}

// dropped returns what the older version would not show of a reference by itself; false if there is nothing. What an object shows whose
// kind is not installed is made up, and no word of the user's: only a manifest that was never stored is remembered then.
func dropped(ctx context.Context, ref *corev1.ObjectReference, of client.Object) (writtenReference, bool) {
	if ref == nil || ref.APIVersion == "" {
		return writtenReference{}, false
	}
	w := writtenReference{APIVersion: ref.APIVersion, Kind: ref.Kind}
	if ref.Namespace != "" && ref.Namespace != of.GetNamespace() {
		w.Namespace = ref.Namespace
	}
	reader, _ := ctx.Value(readerKey{}).(client.Reader)
	if w.Namespace != "" || reader == nil {
		return w, true
	}
	look := apiVersion
	if _, stored := of.GetAnnotations()[conversionutil.DataAnnotation]; !stored {
		look = func(ctx context.Context, gk schema.GroupKind) (string, error) {
			return contract.APIVersion(ctx, reader, gk)
		}
	}
	shown, err := look(ctx, ref.GroupVersionKind().GroupKind())
	return w, err != nil || shown != ref.APIVersion
}

func annotate(o client.Object, byPath map[string]writtenReference) error {
	// The map is also that of the object that was converted.
	annotations := maps.Clone(o.GetAnnotations())
	delete(annotations, referencesAnnotation)
	if len(byPath) > 0 {
		value, err := json.Marshal(byPath)
		if err != nil {
			return err
		}
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[referencesAnnotation] = string(value)
	}
	o.SetAnnotations(annotations)
	return nil
}

// showReferences wraps a conversion to the older version: references say again what they said, as long as they are to the same group and
// kind.
func showReferences[H, S client.Object](references func(S) map[string]*corev1.ObjectReference,
	toOlder func(context.Context, H, S) error) func(context.Context, H, S) error {
	return func(ctx context.Context, src H, dst S) error {
		byPath := storedReferences(src)
		if err := toOlder(ctx, src, dst); err != nil {
			return err
		}
		for path, ref := range references(dst) {
			w, ok := byPath[path]
			if !ok || ref == nil || schema.FromAPIVersionAndKind(w.APIVersion, w.Kind).GroupKind() != ref.GroupVersionKind().GroupKind() {
				continue
			}
			ref.APIVersion = w.APIVersion
			if w.Namespace != "" {
				ref.Namespace = w.Namespace
			}
		}
		annotations := maps.Clone(dst.GetAnnotations())
		delete(annotations, referencesAnnotation)
		dst.SetAnnotations(annotations)
		return nil
	}
}

// storedReferences reads the annotation of an object as it is stored. An annotation that can't be read says nothing.
func storedReferences(o client.Object) map[string]writtenReference {
	byPath := map[string]writtenReference{}
	if err := json.Unmarshal([]byte(o.GetAnnotations()[referencesAnnotation]), &byPath); err != nil {
		return nil
	}
	return byPath
}

// namespaceWarnings returns warnings for references with a namespace in the older version, which has no effect. Only a new namespace causes
// a warning.
func namespaceWarnings(old, pool *clusterv1.MachinePool) []string {
	var before map[string]writtenReference
	if old != nil {
		before = storedReferences(old)
	}
	var all []string
	byPath := storedReferences(pool)
	for _, path := range []string{"spec.template.spec.bootstrap.configRef", "spec.template.spec.infrastructureRef"} {
		if w := byPath[path]; w.Namespace != "" && w.Namespace != before[path].Namespace {
			all = append(all, path+".namespace: "+w.Namespace+" has no effect: a MachinePool refers to objects of its own namespace, "+
				pool.Namespace)
		}
	}
	return all
}
