package noderole

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
)

// CleanUp deletes an owned role together with the policies that Muster attached. A role that an instance profile holds, or that has
// policies of another client, is in use: it is kept, and the error names its users.
func (p Pass) CleanUp(ctx context.Context) error {
	*p.Memory = Memory{}
	if err := p.read(ctx); err != nil {
		return err
	}
	role := *p.Memory
	if !role.deletable() {
		return nil
	}
	if err := p.checkUnused(ctx, role); err != nil {
		return err
	}
	*p.Memory = Memory{}
	if err := p.detach(ctx, role.name, role.attached); err != nil {
		return err
	}
	_, err := p.Session.IAM.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &role.name})
	if err = session.Refusal(err, p.Now); session.Absent(err) {
		return nil
	}
	return err
}

// checkUnused returns an error if another client uses the role.
func (p Pass) checkUnused(ctx context.Context, role Memory) error {
	known := slices.Concat(p.policies(), p.Spec.Policies, p.Spec.rememberedPolicies())
	var others []string
	for _, arn := range role.attached {
		if !slices.Contains(known, arn) {
			others = append(others, arn)
		}
	}
	if len(others) > 0 {
		return inUse(role.name, "policies that another client has attached", others)
	}
	pages := iam.NewListInstanceProfilesForRolePaginator(p.Session.IAM.ListInstanceProfilesForRole,
		&iam.ListInstanceProfilesForRoleInput{RoleName: &role.name})
	found, err := session.Listed(ctx, pages, func(page *iam.ListInstanceProfilesForRoleOutput) []iamtypes.InstanceProfile {
		return page.InstanceProfiles
	}, maxListed, p.Now)
	if err != nil {
		return err
	}
	for _, profile := range found {
		others = append(others, ptr.Deref(profile.InstanceProfileName, ""))
	}
	if len(others) > 0 {
		return inUse(role.name, "instance profiles that hold it", others)
	}
	return nil
}

// inUse is the error of a role that another client uses.
func inUse(name, by string, list []string) error {
	return &cloud.Error{Kind: cloud.Conflict, Code: "RoleInUse", Message: fmt.Sprintf(
		"IAM role %s was made for this pool and has %s: %s. It is deleted once they are gone", name, by, strings.Join(list, ", "))}
}
