package drain

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/noderefutil"
)

// perPage is the size of one page of a list.
const perPage = 500

// volumes are the volume attachments and volumes of the workload cluster. Neither can be selected by node, so that all are read, once a
// pass, and only in passes in which a node waits for its volumes.
type volumes struct {
	// attached are the names of what is attached, by node: of PersistentVolumes, or of attachments without one.
	attached map[string][]string
	// byName and byHandle are the PersistentVolumes by name, and by the name in a Node's status.
	byName, byHandle map[string]*corev1.PersistentVolume
}

// attached returns the volumes that have to be detached from the node before its machine is removed, in a stable order: those of pods that
// the drain has terminated. It does not wait for volumes of pods that keep running, for volumes on a node without a kubelet, which could
// not detach them, or after the timeout of the pool.
func (w *Workload) attached(ctx context.Context, node *corev1.Node, r *running) ([]string, error) {
	if w.excluded(clusterv1.ExcludeWaitForNodeVolumeDetachAnnotation) || noderefutil.IsNodeUnreachable(node) || w.detachTimeUp(node) {
		return nil, nil
	}
	v, err := w.volumesOnce(ctx)
	if err != nil {
		return nil, err
	}
	ignored := claims(append(r.left, r.kept...))
	var out []string
	for _, name := range v.attached[node.Name] {
		out = append(out, v.describe(v.byName[name], "VolumeAttachment of "+name, ignored))
	}
	for _, a := range node.Status.VolumesAttached {
		out = append(out, v.describe(v.byHandle[string(a.Name)], "volume "+string(a.Name), ignored))
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(s string) bool { return s == "" }), nil
}

// describe names a volume by its claim, or as well as possible; empty for a volume that is not waited for.
func (v *volumes) describe(pv *corev1.PersistentVolume, unknown string, ignored map[client.ObjectKey]bool) string {
	switch {
	case pv == nil:
		return unknown + " (still attached)"
	case pv.Spec.ClaimRef == nil || pv.Spec.ClaimRef.Kind != "PersistentVolumeClaim":
		return "PersistentVolume " + pv.Name + " (still attached)"
	}
	claim := client.ObjectKey{Namespace: pv.Spec.ClaimRef.Namespace, Name: pv.Spec.ClaimRef.Name}
	if ignored[claim] {
		return ""
	}
	return "PersistentVolumeClaim " + claim.String() + " (its volume is still attached)"
}

// claims returns the claims that pods use.
func claims(pods []*corev1.Pod) map[client.ObjectKey]bool {
	used := map[client.ObjectKey]bool{}
	for _, pod := range pods {
		for _, v := range pod.Spec.Volumes {
			if v.PersistentVolumeClaim != nil {
				used[client.ObjectKey{Namespace: pod.Namespace, Name: v.PersistentVolumeClaim.ClaimName}] = true
			}
		}
	}
	return used
}

// detachTimeUp reports whether the pool's timeout for detaching volumes has passed since the wait began.
func (w *Workload) detachTimeUp(node *corev1.Node) bool {
	limit := time.Duration(ptr.Deref(w.Machine.Spec.Deletion.NodeVolumeDetachTimeoutSeconds, 0)) * time.Second
	since, waits := w.at(node, DetachStartedAnnotation)
	return limit > 0 && waits && w.Now.Sub(since) >= limit
}

// drainTimeUp reports whether the pool's timeout for evictions has passed since the drain began: pods that still run are not waited for.
func (w *Workload) drainTimeUp(since time.Time) bool {
	limit := time.Duration(ptr.Deref(w.Machine.Spec.Deletion.NodeDrainTimeoutSeconds, 0)) * time.Second
	return limit > 0 && w.Now.Sub(since) >= limit
}

// forceTimeUp reports whether the time has passed after which pods are not waited for on a machine that a rollout replaces.
func (w *Workload) forceTimeUp(since time.Time) bool {
	return w.ForceAfter > 0 && w.Now.Sub(since) >= w.ForceAfter
}

// volumesOnce reads the attachments and volumes once a pass.
func (w *Workload) volumesOnce(ctx context.Context) (*volumes, error) {
	if w.volumes != nil {
		return w.volumes, nil
	}
	v := &volumes{attached: map[string][]string{}, byName: map[string]*corev1.PersistentVolume{},
		byHandle: map[string]*corev1.PersistentVolume{}}
	if err := v.readAttachments(ctx, w.Live); err != nil {
		return nil, err
	}
	if err := v.readVolumes(ctx, w.Live); err != nil {
		return nil, err
	}
	w.volumes = v
	return v, nil
}

func (v *volumes) readAttachments(ctx context.Context, live client.Reader) error {
	for next := ""; ; {
		page := &storagev1.VolumeAttachmentList{}
		if err := live.List(ctx, page, client.Limit(perPage), client.Continue(next)); err != nil {
			return fmt.Errorf("read the volume attachments of the workload cluster: %w", err)
		}
		for i := range page.Items {
			if a := &page.Items[i]; a.Status.Attached {
				name := ptr.Deref(a.Spec.Source.PersistentVolumeName, a.Name)
				v.attached[a.Spec.NodeName] = append(v.attached[a.Spec.NodeName], name)
			}
		}
		if next = page.Continue; next == "" {
			return nil
		}
	}
}

func (v *volumes) readVolumes(ctx context.Context, live client.Reader) error {
	for next := ""; ; {
		page := &corev1.PersistentVolumeList{}
		if err := live.List(ctx, page, client.Limit(perPage), client.Continue(next)); err != nil {
			return fmt.Errorf("read the persistent volumes of the workload cluster: %w", err)
		}
		for i := range page.Items {
			pv := &page.Items[i]
			v.byName[pv.Name] = pv
			if csi := pv.Spec.CSI; csi != nil {
				v.byHandle[fmt.Sprintf("kubernetes.io/csi/%s^%s", csi.Driver, csi.VolumeHandle)] = pv
			}
		}
		if next = page.Continue; next == "" {
			return nil
		}
	}
}
