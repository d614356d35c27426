package nodegroup_test

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/iam"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/aws/nodegroup"
)

// TestPolicyThatIsTakenOut of the specification is taken from the role, and does not block the deletion of the role; one that another
// client has attached stays, and what is detached by hand is forgotten.
func TestPolicyThatIsTakenOut(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(o *nodegroup.Options) { o.EnableIAM, o.AllowAddRoles = true, true }, func(t *testing.T, w *world) {
		const first, second, others = "arn:aws:iam::aws:policy/ReadOnlyAccess", "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore",
			"arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy"
		with := func(policies ...string) func(source) source {
			return spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.RoleName, s.RoleAdditionalPolicies = "", policies })
		}
		e := w.edge(with(first, second)(withTemplate()), 1)
		e.run()
		name := "east-" + e.name() + "_nodegroup-iam-service-role"
		_, err := w.iam.AttachRolePolicy(t.Context(), &iam.AttachRolePolicyInput{RoleName: &name, PolicyArn: new(others)})
		w.must(err)
		attached := func(what string, want ...string) {
			t.Helper()
			list := slices.DeleteFunc(w.attached(name), func(arn string) bool { return !slices.Contains([]string{first, second, others}, arn) })
			slices.Sort(list)
			slices.Sort(want)
			e.check(what, want, list)
		}
		attached("policies at first", first, second, others)
		e.target.Spec = with(second)(e.target.Spec)
		e.run()
		attached("policies after one was taken out", second, others)
		e.check("steps at rest", 0, len(e.run()))
		// What we have taken away ourselves another client may attach.
		_, err = w.iam.AttachRolePolicy(t.Context(), &iam.AttachRolePolicyInput{RoleName: &name, PolicyArn: new(first)})
		w.must(err)
		time.Sleep(2 * time.Hour)
		e.pass()
		time.Sleep(time.Hour)
		e.run()
		attached("policies with one that another client has attached", first, second, others)
		for _, arn := range []string{first, others} {
			_, err = w.iam.DetachRolePolicy(t.Context(), &iam.DetachRolePolicyInput{RoleName: &name, PolicyArn: &arn})
			w.must(err)
		}
		e.target.Spec = with()(e.target.Spec)
		e.desired.Deleting = true
		e.run()
		if !e.plan.DeletionComplete {
			t.Errorf("want the pool gone with a policy that was taken out as it went, got %+v", e.plan)
		}
	})
}
