// Package comingfrom has the programs of other libraries that docs/coming-from.md shows beside
// those of this one, so that they are known to compile and to run.
package comingfrom
