package iam

import "github.com/muster-project/muster/sim/aws/account"

// Operations are the actions of IAM.
var Operations = map[string]account.Operation[*Service]{
	"CreateRole":                    account.Write((*Service).createRole),
	"DeleteRole":                    account.Write((*Service).deleteRole),
	"UpdateAssumeRolePolicy":        account.Write((*Service).updateAssumeRolePolicy),
	"PutRolePermissionsBoundary":    account.Write((*Service).putRoleBoundary),
	"DeleteRolePermissionsBoundary": account.Write((*Service).deleteRoleBoundary),
	"TagRole":                       account.Write((*Service).tagRole),
	"UntagRole":                     account.Write((*Service).untagRole),
	"AttachRolePolicy":              account.Write((*Service).attachRolePolicy),
	"DetachRolePolicy":              account.Write((*Service).detachRolePolicy),
	"PutRolePolicy":                 account.Write((*Service).putRolePolicy),
	"DeleteRolePolicy":              account.Write((*Service).deleteRolePolicy),
	"CreatePolicy":                  account.Write((*Service).createPolicy),
	"DeletePolicy":                  account.Write((*Service).deletePolicy),
	"CreateInstanceProfile":         account.Write((*Service).createInstanceProfile),
	"DeleteInstanceProfile":         account.Write((*Service).deleteInstanceProfile),
	"AddRoleToInstanceProfile":      account.Write((*Service).addRoleToInstanceProfile),
	"RemoveRoleFromInstanceProfile": account.Write((*Service).removeRoleFromInstanceProfile),
	"CreateServiceLinkedRole":       account.Write((*Service).createServiceLinkedRole),
	"GetRole":                       account.Read((*Service).getRole),
	"ListRoles":                     account.Read((*Service).listRoles),
	"ListRoleTags":                  account.Read((*Service).listRoleTags),
	"ListAttachedRolePolicies":      account.Read((*Service).listAttachedRolePolicies),
	"GetRolePolicy":                 account.Read((*Service).getRolePolicy),
	"ListRolePolicies":              account.Read((*Service).listRolePolicies),
	"GetPolicy":                     account.Read((*Service).getPolicy),
	"GetPolicyVersion":              account.Read((*Service).getPolicyVersion),
	"GetInstanceProfile":            account.Read((*Service).getInstanceProfile),
	"ListInstanceProfilesForRole":   account.Read((*Service).listInstanceProfilesForRole),
}
