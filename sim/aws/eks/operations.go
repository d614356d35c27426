package eks

import "github.com/muster-project/muster/sim/aws/account"

// Operations are the actions of EKS.
var Operations = account.Join(
	account.Of(func(s *Service) *Clusters { return s.Clusters }, map[string]account.Operation[*Clusters]{
		"CreateCluster":        account.Write((*Clusters).createCluster),
		"DeleteCluster":        account.Write((*Clusters).deleteCluster),
		"UpdateClusterVersion": account.Write((*Clusters).updateClusterVersion),
		"TagResource":          account.Write((*Clusters).tagResource),
		"UntagResource":        account.Write((*Clusters).untagResource),
		"DescribeCluster":      account.Read((*Clusters).describeCluster),
		"ListClusters":         account.Read((*Clusters).listClusters),
		"ListTagsForResource":  account.Read((*Clusters).listEKSTags),
	}),
	account.Of(func(s *Service) *Nodegroups { return s.Nodegroups }, map[string]account.Operation[*Nodegroups]{
		"CreateNodegroup":   account.Write((*Nodegroups).createNodegroup),
		"DeleteNodegroup":   account.Write((*Nodegroups).deleteNodegroup),
		"DescribeNodegroup": account.Read((*Nodegroups).describeNodegroup),
		"ListNodegroups":    account.Read((*Nodegroups).listNodegroups),
	}),
	account.Of(func(s *Service) *Updates { return s.Updates }, map[string]account.Operation[*Updates]{
		"UpdateNodegroupConfig":  account.Write((*Updates).updateNodegroupConfig),
		"UpdateNodegroupVersion": account.Write((*Updates).updateNodegroupVersion),
		"CancelUpdate":           account.Write((*Updates).cancelUpdate),
		"ListUpdates":            account.Read((*Updates).listUpdates),
		"DescribeUpdate":         account.Read((*Updates).describeUpdate),
	}),
)
