package iam

import (
	"cmp"
	"maps"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/iam"
	"github.com/muster-project/muster/sim/aws/wire"
)

// Ask is one thing that a caller wants to do: an action on a resource, with what conditions look at.
type Ask struct {
	Action, Resource string
	Context          map[string][]string
	// Refusal words the denial where a service does not pass on IAM's; nil for most.
	Refusal func(message string) *wire.APIError
}

// RoleOfProfile is the ARN of the role of an instance profile, whose own name it most often has.
func (d *Directory) RoleOfProfile(profile string) string {
	name := profile[strings.LastIndex(profile, "/")+1:]
	if p := d.Profiles.Get(RoleKey(name)); p != nil && p.Role != "" {
		name = p.Role
	}
	return d.roleARN(name)
}

func (d *Directory) roleARN(name string) string {
	if found := d.Roles.Get(RoleKey(name)); found != nil {
		return d.ARN("role", found.Path, found.Name)
	}
	return d.ARN("role", "/", name)
}

// AskPass is handing a role to a service.
func (d *Directory) AskPass(role, service string) Ask {
	return About("iam:PassRole", role, map[string][]string{"iam:PassedToService": {service}})
}

// AskService is what a service needs that is used in an account for the first time: a role of its own.
func (d *Directory) AskService(service string) []Ask {
	name := serviceRoles[service]
	if d.Roles.Get(RoleKey(name)) != nil {
		return nil
	}
	return []Ask{About("iam:CreateServiceLinkedRole", d.ARN("role", serviceRolePath+service+"/", name),
		map[string][]string{"iam:AWSServiceName": {service}})}
}

// askIAM is anything about a role, a policy or an instance profile.
func askIAM(r *Service, x *wire.Call, name string) ([]Ask, error) {
	d, context := r.Directory, map[string][]string{}
	var in struct {
		Tags                []iam.Tag `query:"Tags,member"`
		Path                *string   `query:"Path"`
		PermissionsBoundary *string   `query:"PermissionsBoundary"`
	}
	if err := wire.DecodeQuery(x.Params, &in, false); err != nil {
		return nil, err
	}
	tags := map[string]string{}
	for _, t := range in.Tags {
		tags[shapes.Str(t.Key)] = shapes.Str(t.Value)
	}
	maps.Copy(context, Given(tags))
	if b := shapes.Str(in.PermissionsBoundary); b != "" {
		context["iam:PermissionsBoundary"] = []string{b}
	}
	policy, resource := x.Params.Get("PolicyArn"), d.asked(x, shapes.Str(in.Path), context)
	if policy != "" {
		context["iam:PolicyARN"] = []string{policy}
	}
	asks := []Ask{About(name, resource, context)}
	if x.Action == "CreateRole" && len(tags) > 0 {
		asks = append(asks, About("iam:TagRole", resource, context))
	}
	return asks, nil
}

// asked is the ARN of what a request of IAM is about; its tags are added to the context.
func (d *Directory) asked(x *wire.Call, path string, context map[string][]string) string {
	role, profile, policy := x.Params.Get("RoleName"), x.Params.Get("InstanceProfileName"), x.Params.Get("PolicyName")
	switch {
	case profile != "":
		if p := d.Profiles.Get(RoleKey(profile)); p != nil {
			maps.Copy(context, Carried("iam", p.Tags))
			return d.ARN("instance-profile", p.Path, p.Name)
		}
		return d.ARN("instance-profile", "/", profile)
	case role != "" && x.Action == "CreateRole":
		return d.ARN("role", path, role)
	case role != "":
		if found := d.Roles.Get(RoleKey(role)); found != nil {
			maps.Copy(context, Carried("iam", found.Tags))
		}
		return d.roleARN(role)
	case policy != "":
		return d.ARN("policy", path, policy)
	}
	return cmp.Or(x.Params.Get("PolicyArn"), "*")
}

func askServiceRole(r *Service, x *wire.Call, _ string) ([]Ask, error) {
	service := strings.TrimSpace(x.Params.Get("AWSServiceName"))
	return []Ask{About("iam:CreateServiceLinkedRole", r.Directory.ARN("role", serviceRolePath+service+"/", serviceRoles[service]),
		map[string][]string{"iam:AWSServiceName": {service}})}, nil
}

// About is something that is asked for, with what conditions may look at.
func About(action, resource string, contexts ...map[string][]string) Ask {
	a := Ask{Action: action, Resource: cmp.Or(resource, "*"), Context: map[string][]string{}}
	for _, c := range contexts {
		maps.Copy(a.Context, c)
	}
	return a
}

// Given are the tags that a request gives, carried those that a resource has, as conditions look at them.
func Given(tags map[string]string) map[string][]string {
	out := map[string][]string{}
	for k, v := range tags {
		out["aws:RequestTag/"+k] = []string{v}
		out["aws:TagKeys"] = append(out["aws:TagKeys"], k)
	}
	return out
}

// Carried returns the tags of a resource as conditions look at them.
func Carried(service string, tags map[string]string) map[string][]string {
	out := map[string][]string{}
	for k, v := range tags {
		out["aws:ResourceTag/"+k] = []string{v}
		out[service+":ResourceTag/"+k] = []string{v}
	}
	return out
}

// Asks are what the actions of the service ask of the caller's policies. An action that is not listed is asked for on everything; an
// action without a name stands for all others that write.
var Asks = map[string]Asker[*Service]{
	"ListAttachedRolePolicies":    askIAM,
	"ListRolePolicies":            askIAM,
	"ListRoleTags":                askIAM,
	"ListInstanceProfilesForRole": askIAM,
	"CreateServiceLinkedRole":     askServiceRole,
	"":                            askIAM,
}
