package policy

var ReadAmount = readAmount
