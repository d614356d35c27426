package infrapool_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
)

// azureToken is a bootstrap token of the workload cluster that is valid for a while.
func azureToken(id string, until time.Time) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-" + id},
		Data: map[string][]byte{"expiration": []byte(until.UTC().Format(time.RFC3339))}}
}

// joinsWith has the bootstrap data hold another token.
func (w *azureWorld) joinsWith(id string) {
	w.t.Helper()
	secret := &corev1.Secret{}
	if err := w.management.Get(w.t.Context(), client.ObjectKey{Namespace: "default", Name: "data"}, secret); err != nil {
		w.t.Fatal(err)
	}
	secret.Data["value"] = []byte("#cloud-config\ntoken: " + id + ".0123456789abcdef")
	if err := w.management.Update(w.t.Context(), secret); err != nil {
		w.t.Fatal(err)
	}
}

// TestTokenOfTheModel: the scale set is not written to for another bootstrap token alone, so that the one in its model has to stay
// valid: machines are made of it for as long as the pool lives. When it is lost all the same, the model gets the new one.
func TestTokenOfTheModel(t *testing.T) {
	t.Parallel()
	w := newAzureWorld(t, azureCorePool("v1.36.3"), azureMachinePool(azurev1.FlexibleOrchestrationMode))
	w.joinsWith("abcdef")
	w.rest()
	if err := w.workload.Create(t.Context(), azureToken("abcdef", w.now.Add(15*time.Minute))); err != nil {
		t.Fatal(err)
	}
	w.cloud.steps = nil
	w.joinsWith("zzzzzz")
	for end := w.now.Add(2 * time.Hour); w.now.Before(end); {
		w.passes(1)
		s := azureToken("abcdef", time.Time{})
		if err := w.workload.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
			t.Fatal(err)
		}
		if at, err := time.Parse(time.RFC3339, string(s.Data["expiration"])); err != nil || !at.After(w.now) {
			t.Fatalf("at %s the token that machines are made with had run out at %s, %v", w.now, at, err)
		}
	}
	if len(w.cloud.steps) > 0 {
		t.Fatalf("want nothing written for another token, got %v", w.cloud.steps)
	}
	if err := w.workload.Delete(t.Context(), azureToken("abcdef", w.now)); err != nil {
		t.Fatal(err)
	}
	w.rest()
	if want := []string{"PutTemplate"}; !slices.Equal(w.cloud.steps, want) || w.cloud.model.Data != w.cloud.last.Bootstrap.Hash() {
		t.Errorf("want the new token in the model and no instance replaced, got %v\n%s", w.cloud.steps, w.say())
	}
}
