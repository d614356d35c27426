package install

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/muster-project/muster/view/doctor"
)

// wantDoctor fails the test unless "muster doctor" finds as many problems in each check as wanted, and leaves none of these unchecked.
func (c *cluster) wantDoctor(t *testing.T, want map[string]int) {
	t.Helper()
	var report doctor.Report
	if err := json.Unmarshal([]byte(c.doctor(t)), &report); err != nil {
		t.Fatal(err)
	}
	found, problems := map[string]int{}, map[string]int{}
	for _, f := range report.Findings {
		found[f.Check]++
		if f.Severity == doctor.Problem || f.Severity == doctor.Unchecked {
			problems[f.Check]++
		}
	}
	for check, n := range want {
		if found[check] == 0 || problems[check] != n {
			t.Errorf("check %s: want %d problems, got %d of %d findings", check, n, problems[check], found[check])
		}
	}
	if t.Failed() {
		var text strings.Builder
		_ = doctor.Text(&text, report)
		t.Log(text.String())
	}
}

// doctor returns what "muster doctor" prints, which ends with an error when it finds a problem.
func (c *cluster) doctor(t *testing.T) string {
	t.Helper()
	var out, errors bytes.Buffer
	run := exec.CommandContext(t.Context(), muster, "doctor", "--kubeconfig="+c.File, "-o", "json")
	run.Stdout, run.Stderr = &out, &errors
	if err := run.Run(); out.Len() == 0 {
		t.Fatalf("muster doctor: %v\n%s", err, errors.String())
	}
	return out.String()
}

// serveWebhooks replaces the controller that records the addresses behind the webhooks' service.
func (c *cluster) serveWebhooks(t *testing.T) {
	t.Helper()
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "webhooks",
			Labels: map[string]string{discoveryv1.LabelServiceName: "muster-webhook-service"}},
		AddressType: discoveryv1.AddressTypeIPv4, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}},
	}
	if _, err := c.clients.DiscoveryV1().EndpointSlices(namespace).Create(t.Context(), slice, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// withdraw takes the rules of the manager's ClusterRole away, and waits until the API server has noticed.
func (c *cluster) withdraw(t *testing.T) {
	t.Helper()
	role, err := c.clients.RbacV1().ClusterRoles().Get(t.Context(), "muster-manager", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	role.Rules = nil
	if _, err := c.clients.RbacV1().ClusterRoles().Update(t.Context(), role, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:               "system:serviceaccount:" + namespace + ":muster-manager",
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Group: "cluster.x-k8s.io", Resource: "machinepools"},
	}}
	err = wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, readyTimeout, true, func(ctx context.Context) (bool, error) {
		answer, err := c.clients.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		return err == nil && !answer.Status.Allowed, err
	})
	if err != nil {
		t.Fatal(err)
	}
}
