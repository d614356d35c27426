// Package tokens keeps bootstrap tokens alive that machines may still be launched with although the pool's bootstrap data has
// moved on: a cloud's own roll makes machines of the template version that it was begun with, for hours perhaps, while the
// token in the data is replaced every few minutes and the old one is left to run out. It revokes those of pools that are gone.
package tokens
