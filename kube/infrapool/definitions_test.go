package infrapool_test

import (
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/muster-project/muster/kube/definitions"
	"github.com/muster-project/muster/kube/infrapool"
)

// TestReplacedDefinition: another provider's installation replaces the definition of the kind. Nothing is done for its objects, each says
// why, with one write, and they go on when the definition is back. A version that is not served can't be written to.
func TestReplacedDefinition(t *testing.T) {
	t.Parallel()
	s := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	d, err := definitions.Expected("awsmachinepools.infrastructure.cluster.x-k8s.io")
	if err != nil {
		t.Fatal(err)
	}
	d.Generation = 1
	server := fake.NewClientBuilder().WithScheme(s).WithObjects(d.DeepCopy()).Build()
	change := func(changed *apiextensionsv1.CustomResourceDefinition) {
		t.Helper()
		is := &apiextensionsv1.CustomResourceDefinition{}
		if err := server.Get(t.Context(), client.ObjectKeyFromObject(d), is); err != nil {
			t.Fatal(err)
		}
		changed.ResourceVersion, changed.Generation = is.ResourceVersion, is.Generation+1
		if err := server.Update(t.Context(), changed); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(t, everything()...)
	w.definitions = &definitions.Checker{Cached: server, Live: server}
	w.restart()
	w.settled()
	w.account.take()

	theirs := d.DeepCopy()
	delete(theirs.Spec.Versions[1].Schema.OpenAPIV3Schema.Properties["spec"].Properties, "lifecycleHooks")
	change(theirs)
	w.passes(1)
	if c := w.condition("Ready"); c.Status != metav1.ConditionFalse || c.Reason != infrapool.ReasonDefinitionIncompatible ||
		!strings.Contains(c.Message, "v1beta2 lacks spec.lifecycleHooks") {
		t.Errorf("want Ready to name the field, got %+v", c)
	}
	w.writes = nil
	w.remove(w.get())
	w.writes = nil
	w.passes(3)
	w.wantCalls("the cloud is not asked for anything, deletion or not")
	if w.gone() || len(w.writes) > 0 {
		t.Errorf("want the object kept, and nothing written again, got %q", w.writes)
	}

	theirs = d.DeepCopy()
	theirs.Spec.Versions[1].Served = false
	change(theirs)
	w.passes(1)
	if len(w.writes) > 0 {
		t.Errorf("want nothing written to a version that is not served, got %q", w.writes)
	}
	change(d.DeepCopy())
	w.now = w.now.Add(time.Minute)
	w.passes(10)
	if !w.gone() {
		t.Errorf("want the deletion to go on with the definition\n%s", w.say())
	}
}
