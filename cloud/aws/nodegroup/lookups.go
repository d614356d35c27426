package nodegroup

import (
	"cmp"
	"context"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
)

// readTemplate reads the launch template slowly, and at once when the node group is launched from a version that is not known.
func (r *reader) readTemplate(ctx context.Context, s *state) error {
	if s.t.template == "" {
		return nil
	}
	var refs []string
	if s.is != nil && s.t.owns(s.is) && s.is.LaunchTemplate != nil {
		refs = append(refs, s.ref(""))
	}
	return s.launch.Read(ctx, refs)
}

// lookUp looks up what the specification names, and adds it to the state: the subnets, and what the launch template is made of, or, where
// EKS makes that, what the instance types offer. Beside an error it adds what does not depend on what failed.
func (r *reader) lookUp(ctx context.Context, s *state) error {
	want, source, look := &s.want, s.launch.Source, r.c.Resolver(s.t.Remembered, r.now)
	want.remembered = look.Remember
	session.KeepAdopted(s.t.Remembered, look.Remember)
	subnets, err := launch.Subnets(ctx, look, s.t.cluster, s.t.places())
	if err == nil && s.t.template != "" {
		err = source.FitsIn(subnets)
	}
	if err == nil {
		want.group.subnets = session.Unique(subnets)
	}
	failed := s.chooseVersion()
	switch {
	case failed != nil: // for a version that can't be had nothing is looked up
	case s.t.template != "":
		want.launch, failed = s.launch.Want(ctx, look)
	default:
		source.Spec = &awsv1.AWSLaunchTemplate{}
		want.launch.Architecture, want.launch.Capacity, failed = source.Machines(ctx, look)
	}
	want.lookedUp = failed == nil
	if err = cmp.Or(err, want.group.checkTags(), failed); err != nil {
		look.Keep()
	}
	return err
}

// readPrerequisites reads what the group needs beside its template: its role, and the data in the cluster's bucket that versions of the
// template point to.
func (r *reader) readPrerequisites(ctx context.Context, s *state) (err error) {
	s.needs, err = s.role.Compare(ctx, s.failed != nil, s.want.remembered)
	if err != nil {
		return err
	}
	if s.t.template != "" {
		s.objects, s.objectIssues = s.launch.Prerequisites(ctx)
	}
	return nil
}
