package s3

import "github.com/muster-project/muster/sim/aws/account"

// Operations are the actions of S3.
var Operations = map[string]account.Operation[*Service]{
	"PutObject":    {Run: putObject, Mutating: true},
	"CopyObject":   {Run: copyObject, Mutating: true},
	"DeleteObject": {Run: deleteObject, Mutating: true},
	"GetObject":    {Run: getObject},
	"HeadObject":   {Run: headObject},
}
