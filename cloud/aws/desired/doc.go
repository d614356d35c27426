// Package desired translates the specification of a pool into the fields of an Auto Scaling group, without its size and its launch
// template, as plain data: how the group differs from it field by field, and the requests that create the group and repair it. It sends
// nothing.
package desired
