package session

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/muster-project/muster/cloud/sweep"
)

// newRoles makes the sweep over IAM roles. IAM has no call for several: pools that have the same role share one.
func newRoles(client *IAM, now func() time.Time) *sweep.Sweep[*iamtypes.Role] {
	some := func(ctx context.Context, names []string, found func(string, *iamtypes.Role)) error {
		out, err := client.GetRole(ctx, &iam.GetRoleInput{RoleName: &names[0]})
		if err = Refusal(err, now()); err != nil && !Absent(err) {
			return err
		}
		if err == nil && out.Role != nil {
			out.Role.CreateDate = OurTime(out.Role.CreateDate, out.ResultMetadata)
			found(names[0], out.Role)
		}
		return nil
	}
	return sweep.New(sweep.Options[*iamtypes.Role]{Some: some, Now: now})
}

// Role returns an IAM role, nil if there is none. maxAge is as in cloud.Target. The role is shared and must not be changed.
func (s *Session) Role(ctx context.Context, name string, maxAge time.Duration) (*iamtypes.Role, error) {
	answer, err := s.roles.Get(ctx, name, maxAge)
	return answer.Value, err
}
