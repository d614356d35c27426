package infrapool_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/azure/azuremachinepool"
)

func TestImage(t *testing.T) {
	t.Parallel()
	id := "/subscriptions/s/x"
	gallery := &azurev1.Image{ComputeGallery: &azurev1.AzureComputeGalleryImage{Gallery: "g", Name: "n", Version: "1.36.3"}}
	const text = `{"computeGallery":{"gallery":"g","name":"n","version":"1.36.3"}}`
	for name, tc := range map[string]struct {
		reason     string
		spec, was  *azurev1.Image
		remembered map[string]string
		want       *azurev1.Image
	}{
		"named":      {"the specification's own", &azurev1.Image{ID: &id}, gallery, map[string]string{"image-1": text}, &azurev1.Image{ID: &id}},
		"found":      {"the one for the Kubernetes version", nil, nil, map[string]string{"image-1": text, "zones-1": "1"}, gallery},
		"not found":  {"the last one that was", nil, gallery, nil, gallery},
		"two":        {"it is unknown which one is used", nil, gallery, map[string]string{"image-1": text, "image-2": `{"id":"x"}`}, gallery},
		"unreadable": {"the user has changed it", nil, gallery, map[string]string{"image-1": "ami-1"}, gallery},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := object(func(o *azurev1.AzureMachinePool) { o.Spec.Template.Image, o.Status.Image = tc.spec, tc.was })
			azuremachinepool.Adapter{}.Report(o, report.Report{Seen: true}, engine.Outcome{Observed: pool.Observed{ResolvedLookups: tc.remembered}})
			if diff := cmp.Diff(tc.want, o.Status.Image); diff != "" {
				t.Errorf("%s: want -, got +\n%s", tc.reason, diff)
			}
		})
	}
}
