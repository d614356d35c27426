// Package shapes holds what services of AWS publish of the operations that the simulator serves, taken from the sources of its SDK. The
// types of requests and answers that code uses are structs, one package a service, so that the compiler knows every name on the wire.
package shapes

import (
	_ "embed" // for the services

	"github.com/muster-project/muster/sim/core/shapes"
)

var (
	//go:embed autoscaling.json
	autoscaling []byte
	//go:embed ec2.json
	ec2 []byte
	//go:embed eks.json
	eks []byte
	//go:embed iam.json
	iam []byte
	//go:embed s3.json
	s3 []byte
	//go:embed ssm.json
	ssm []byte
	//go:embed sts.json
	sts []byte
)

// Services are the services of AWS by their names. The members of types have their names in requests.
var Services = map[string]func() *shapes.Service{
	"autoscaling": shapes.Embedded(autoscaling), "ec2": shapes.Embedded(ec2), "eks": shapes.Embedded(eks), "iam": shapes.Embedded(iam),
	"s3": shapes.Embedded(s3), "ssm": shapes.Embedded(ssm), "sts": shapes.Embedded(sts),
}
