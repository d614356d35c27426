package aws

import (
	"cmp"
	"maps"
	"strings"

	"github.com/muster-project/muster/sim/aws/query"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
	"github.com/muster-project/muster/sim/aws/shapes/iam"
)

func askCluster(r *realm, x *exchange, name string) ([]ask, error) {
	cluster := cmp.Or(x.params.Get("clusterName"), x.params.Get("name"))
	var tags map[string]string
	if c := r.clusters.Get(cluster); c != nil {
		tags = c.Shape.Tags
	}
	return []ask{about(name, r.eksARN("cluster/"+cluster), carried("eks", tags))}, nil
}

func askNewCluster(r *realm, x *exchange, name string) ([]ask, error) {
	in := &eks.CreateClusterInput{}
	if err := x.decode(in); err != nil {
		return nil, err
	}
	asks := []ask{about(name, r.eksARN("cluster/"+str(in.Name)), given(in.Tags))}
	if len(in.Tags) > 0 {
		asks = append(asks, about("eks:TagResource", r.eksARN("cluster/"+str(in.Name)), given(in.Tags)))
	}
	return append(asks, r.directory.askPass(str(in.RoleArn), "eks.amazonaws.com")), nil
}

// askNodegroup is anything about a node group, or about its cluster where none is named.
func askNodegroup(r *realm, x *exchange, name string) ([]ask, error) {
	group := x.params.Get("nodegroupName")
	if group == "" {
		return askCluster(r, x, name)
	}
	key := cmp.Or(x.params.Get("clusterName"), x.params.Get("name")) + "/" + group
	if n := r.nodegroups.Get(key); n != nil {
		return []ask{about(name, str(n.Shape.NodegroupArn), carried("eks", n.Shape.Tags))}, nil
	}
	return []ask{about(name, r.eksARN("nodegroup/"+key+"/*"))}, nil
}

// askNewNodegroup: EKS is handed a role, and launches in the caller's name from his template.
func askNewNodegroup(r *realm, x *exchange, name string) ([]ask, error) {
	in := &eks.CreateNodegroupInput{}
	if err := x.decode(in); err != nil {
		return nil, err
	}
	asks, err := askCluster(r, x, name)
	if err != nil {
		return nil, err
	}
	maps.Copy(asks[0].context, given(in.Tags))
	if len(in.Tags) > 0 {
		asks = append(asks, about("eks:TagResource", r.eksARN("nodegroup/"+str(in.ClusterName)+"/"+str(in.NodegroupName)+"/*"), given(in.Tags)))
	}
	asks = append(asks, r.directory.askPass(str(in.NodeRole), "eks.amazonaws.com"))
	asks = append(asks, r.directory.askService("eks-nodegroup.amazonaws.com")...)
	return append(asks, r.askSource(in.LaunchTemplate)...), nil
}

func askNodegroupVersion(r *realm, x *exchange, name string) ([]ask, error) {
	in := &eks.UpdateNodegroupVersionInput{}
	if err := x.decode(in); err != nil {
		return nil, err
	}
	asks, err := askNodegroup(r, x, name)
	return append(asks, r.askSource(in.LaunchTemplate)...), err
}

// askSource is what EKS asks before it takes somebody's template: "The IAM entity calling the CreateNodegroup or
// UpdateNodegroupVersion APIs must have permissions for ec2:RunInstances and ec2:CreateTags".
func (r *realm) askSource(s *eks.LaunchTemplateSpecification) []ask {
	if s == nil {
		return nil
	}
	v, err := r.templateVersion(s.Id, s.Name, s.Version)
	if err != nil {
		return nil // The operation will say so.
	}
	return r.askLaunch(&v.Data, v.Template, nil, func(message string) *apiError {
		return refuse("InvalidRequestException", "You are not authorized to launch instances with this launch template. %s", message)
	})
}

func askEKSTags(r *realm, x *exchange, name string) ([]ask, error) {
	in := &eks.TagResourceInput{}
	if err := x.decode(in); err != nil {
		return nil, err
	}
	a := about(name, str(in.ResourceArn), given(in.Tags))
	if tags, _, err := r.tagged(in.ResourceArn); err == nil {
		maps.Copy(a.context, carried("eks", *tags))
	}
	if keys := x.params["tagKeys"]; len(keys) > 0 {
		a.context["aws:TagKeys"] = keys
	}
	return []ask{a}, nil
}

// askIAM is anything about a role, a policy or an instance profile.
func askIAM(r *realm, x *exchange, name string) ([]ask, error) {
	d, context := r.directory, map[string][]string{}
	var in struct {
		Tags                []iam.Tag `query:"Tags,member"`
		Path                *string   `query:"Path"`
		PermissionsBoundary *string   `query:"PermissionsBoundary"`
	}
	if err := query.Decode(x.params, &in, false, "Action", "Version"); err != nil {
		return nil, err
	}
	tags := map[string]string{}
	for _, t := range in.Tags {
		tags[str(t.Key)] = str(t.Value)
	}
	maps.Copy(context, given(tags))
	if b := str(in.PermissionsBoundary); b != "" {
		context["iam:PermissionsBoundary"] = []string{b}
	}
	policy, resource := x.params.Get("PolicyArn"), d.asked(x, str(in.Path), context)
	if policy != "" {
		context["iam:PolicyARN"] = []string{policy}
	}
	asks := []ask{about(name, resource, context)}
	if x.action == "CreateRole" && len(tags) > 0 {
		asks = append(asks, about("iam:TagRole", resource, context))
	}
	return asks, nil
}

// asked is the ARN of what a request of IAM is about; its tags are added to the context.
func (d *directory) asked(x *exchange, path string, context map[string][]string) string {
	role, profile, policy := x.params.Get("RoleName"), x.params.Get("InstanceProfileName"), x.params.Get("PolicyName")
	switch {
	case profile != "":
		if p := d.profiles.Get(roleKey(profile)); p != nil {
			maps.Copy(context, carried("iam", p.Tags))
			return d.arn("instance-profile", p.Path, p.Name)
		}
		return d.arn("instance-profile", "/", profile)
	case role != "" && x.action == "CreateRole":
		return d.arn("role", path, role)
	case role != "":
		if found := d.roles.Get(roleKey(role)); found != nil {
			maps.Copy(context, carried("iam", found.Tags))
		}
		return d.roleARN(role)
	case policy != "":
		return d.arn("policy", path, policy)
	}
	return cmp.Or(x.params.Get("PolicyArn"), "*")
}

func askServiceRole(r *realm, x *exchange, _ string) ([]ask, error) {
	service := strings.TrimSpace(x.params.Get("AWSServiceName"))
	return []ask{about("iam:CreateServiceLinkedRole", r.directory.arn("role", serviceRolePath+service+"/", serviceRoles[service]), map[string][]string{"iam:AWSServiceName": {service}})}, nil
}
