package eks

import (
	"cmp"
	"maps"

	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
	"github.com/muster-project/muster/sim/aws/wire"
)

func askCluster(r *Service, x *wire.Call, name string) ([]iam.Ask, error) {
	Cluster := cmp.Or(x.Params.Get("clusterName"), x.Params.Get("name"))
	var tags map[string]string
	if c := r.Clusters.Rows.Get(Cluster); c != nil {
		tags = c.Shape.Tags
	}
	return []iam.Ask{iam.About(name, r.Clusters.arn("cluster/"+Cluster), iam.Carried("eks", tags))}, nil
}

func askNewCluster(r *Service, x *wire.Call, name string) ([]iam.Ask, error) {
	in := &eks.CreateClusterInput{}
	if err := x.Decode(in); err != nil {
		return nil, err
	}
	asks := []iam.Ask{iam.About(name, r.Clusters.arn("cluster/"+shapes.Str(in.Name)), iam.Given(in.Tags))}
	if len(in.Tags) > 0 {
		asks = append(asks, iam.About("eks:TagResource", r.Clusters.arn("cluster/"+shapes.Str(in.Name)), iam.Given(in.Tags)))
	}
	return append(asks, r.IAM.Directory.AskPass(shapes.Str(in.RoleArn), "eks.amazonaws.com")), nil
}

// askNodegroup is anything about a node group, or about its cluster where none is named.
func askNodegroup(r *Service, x *wire.Call, name string) ([]iam.Ask, error) {
	group := x.Params.Get("nodegroupName")
	if group == "" {
		return askCluster(r, x, name)
	}
	key := cmp.Or(x.Params.Get("clusterName"), x.Params.Get("name")) + "/" + group
	if n := r.Nodegroups.Rows.Get(key); n != nil {
		return []iam.Ask{iam.About(name, shapes.Str(n.Shape.NodegroupArn), iam.Carried("eks", n.Shape.Tags))}, nil
	}
	return []iam.Ask{iam.About(name, r.Clusters.arn("nodegroup/"+key+"/*"))}, nil
}

// askNewNodegroup: EKS is handed a role, and launches in the caller's name from the caller's template.
func askNewNodegroup(r *Service, x *wire.Call, name string) ([]iam.Ask, error) {
	in := &eks.CreateNodegroupInput{}
	if err := x.Decode(in); err != nil {
		return nil, err
	}
	asks, err := askCluster(r, x, name)
	if err != nil {
		return nil, err
	}
	maps.Copy(asks[0].Context, iam.Given(in.Tags))
	if len(in.Tags) > 0 {
		asks = append(asks, iam.About("eks:TagResource",
			r.Clusters.arn("nodegroup/"+shapes.Str(in.ClusterName)+"/"+shapes.Str(in.NodegroupName)+"/*"), iam.Given(in.Tags)))
	}
	asks = append(asks, r.IAM.Directory.AskPass(shapes.Str(in.NodeRole), "eks.amazonaws.com"))
	asks = append(asks, r.IAM.Directory.AskService("eks-nodegroup.amazonaws.com")...)
	return append(asks, r.askSource(in.LaunchTemplate)...), nil
}

func askNodegroupVersion(r *Service, x *wire.Call, name string) ([]iam.Ask, error) {
	in := &eks.UpdateNodegroupVersionInput{}
	if err := x.Decode(in); err != nil {
		return nil, err
	}
	asks, err := askNodegroup(r, x, name)
	return append(asks, r.askSource(in.LaunchTemplate)...), err
}

// askSource is what EKS asks before it uses the caller's template: "The IAM entity calling the CreateNodegroup or
// UpdateNodegroupVersion APIs must have permissions for ec2:RunInstances and ec2:CreateTags".
func (r *Service) askSource(s *eks.LaunchTemplateSpecification) []iam.Ask {
	if s == nil {
		return nil
	}
	v, err := r.EC2.Templates.TemplateVersion(s.Id, s.Name, s.Version)
	if err != nil {
		return nil // The operation will say so.
	}
	return r.EC2.AskLaunch(&v.Data, v.Template, nil, func(message string) *wire.APIError {
		return wire.Refuse("InvalidRequestException", "You are not authorized to launch instances with this launch template. %s", message)
	})
}

func askEKSTags(r *Service, x *wire.Call, name string) ([]iam.Ask, error) {
	in := &eks.TagResourceInput{}
	if err := x.Decode(in); err != nil {
		return nil, err
	}
	a := iam.About(name, shapes.Str(in.ResourceArn), iam.Given(in.Tags))
	if tags, _, err := r.Clusters.tagged(in.ResourceArn); err == nil {
		maps.Copy(a.Context, iam.Carried("eks", *tags))
	}
	if keys := x.Params["tagKeys"]; len(keys) > 0 {
		a.Context["aws:TagKeys"] = keys
	}
	return []iam.Ask{a}, nil
}

// Asks are what the actions of the service ask of the caller's policies. An action that is not listed is asked for on everything; an
// action without a name stands for all others that write.
var Asks = map[string]iam.Asker[*Service]{
	"CreateCluster":          askNewCluster,
	"DescribeCluster":        askCluster,
	"ListNodegroups":         askCluster,
	"CreateNodegroup":        askNewNodegroup,
	"DescribeNodegroup":      askNodegroup,
	"ListUpdates":            askNodegroup,
	"DescribeUpdate":         askNodegroup,
	"DeleteCluster":          askCluster,
	"UpdateClusterVersion":   askCluster,
	"CancelUpdate":           askCluster,
	"UpdateNodegroupConfig":  askNodegroup,
	"UpdateNodegroupVersion": askNodegroupVersion,
	"DeleteNodegroup":        askNodegroup,
	"TagResource":            askEKSTags,
	"UntagResource":          askEKSTags,
	"ListTagsForResource":    askEKSTags,
}
