package ssm

import "github.com/muster-project/muster/sim/aws/account"

// Operations are the actions of SSM.
var Operations = map[string]account.Operation[*Service]{
	"GetParameter":        account.Read((*Service).getParameter),
	"GetParameters":       account.Read((*Service).getParameters),
	"GetParametersByPath": account.Read((*Service).getParametersByPath),
}
