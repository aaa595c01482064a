package disasm

import (
	"strconv"
	"strings"
	"sync"
)

// vexTable lists instructions with a VEX or EVEX prefix: opcode, mnemonic, operands.
//
// The opcode is MAP PP OPCODE in hexadecimal: map 1 is 0F, 2 is 0F38, 3 is 0F3A; pp is 0
// for no prefix, 1 for 66, 2 for F3, 3 for F2. After it, /N is the field reg of ModRM;
// W0 and W1 restrict the bit W; L0 and L1 the vector length; R and M to a register or
// memory operand; E to EVEX and V to VEX. The first entry that matches wins.
//
// In a mnemonic, "@" is d or q by the bit W, "%" is b or w.
//
// Operands are in Intel's order: R is the register in reg, H that in vvvv, M the register
// or memory, L the register in the immediate byte, I the immediate byte, G memory with a
// vector of indices. The letter after it is the size: v the whole vector, x 16, h half, f
// a quarter, e an eighth of the vector (registers are then xmm or ymm), q 8, d 4, w 2 and
// b 1 byte in a vector register; y a general register by the bit W, l one of 32 bits;
// k a mask. "3" stands for RvHvMv, "2" for RvMv, "S" for MvRv.
//
// The source is the instruction set reference of Intel's Software Developer's Manual,
// volume 2, and for the multiplications with four operands (FMA4), which glibc's libm has,
// volume 6 of AMD's AMD64 Architecture Programmer's Manual.
const vexTable = `
1010 vmovups 2 1110 vmovupd 2 1210R vmovss RxHxMx 1210M vmovss RxMd 1310R vmovsd RxHxMx 1310M vmovsd RxMq
1011 vmovups S 1111 vmovupd S 1211R vmovss MxHxRx 1211M vmovss MdRx 1311R vmovsd MxHxRx 1311M vmovsd MqRx
1012R vmovhlps RxHxMx 1012M vmovlps RxHxMq 1112 vmovlpd RxHxMq 1212 vmovsldup 2 1312L0 vmovddup RxMq 1312 vmovddup 2
1013 vmovlps MqRx 1113 vmovlpd MqRx 1014 vunpcklps 3 1114 vunpcklpd 3 1015 vunpckhps 3 1115 vunpckhpd 3
1016R vmovlhps RxHxMx 1016M vmovhps RxHxMq 1116 vmovhpd RxHxMq 1216 vmovshdup 2 1017 vmovhps MqRx 1117 vmovhpd MqRx
1028 vmovaps 2 1128 vmovapd 2 1029 vmovaps S 1129 vmovapd S
122a vcvtsi2ss RxHxMy 132a vcvtsi2sd RxHxMy 102b vmovntps S 112b vmovntpd S
122c vcvttss2si RyMd 132c vcvttsd2si RyMq 122d vcvtss2si RyMd 132d vcvtsd2si RyMq
102e vucomiss RxMd 112e vucomisd RxMq 102f vcomiss RxMd 112f vcomisd RxMq
1041W0 kandw RkHkMk 1141W0 kandb RkHkMk 1041W1 kandq RkHkMk 1141W1 kandd RkHkMk
1042W0 kandnw RkHkMk 1142W0 kandnb RkHkMk 1042W1 kandnq RkHkMk 1142W1 kandnd RkHkMk
1044W0 knotw RkMk 1144W0 knotb RkMk 1044W1 knotq RkMk 1144W1 knotd RkMk
1045W0 korw RkHkMk 1145W0 korb RkHkMk 1045W1 korq RkHkMk 1145W1 kord RkHkMk
1046W0 kxnorw RkHkMk 1146W0 kxnorb RkHkMk 1046W1 kxnorq RkHkMk 1146W1 kxnord RkHkMk
1047W0 kxorw RkHkMk 1147W0 kxorb RkHkMk 1047W1 kxorq RkHkMk 1147W1 kxord RkHkMk
104aW0 kaddw RkHkMk 114aW0 kaddb RkHkMk 104aW1 kaddq RkHkMk 114aW1 kaddd RkHkMk
114bW0 kunpckbw RkHkMk 104bW0 kunpckwd RkHkMk 104bW1 kunpckdq RkHkMk
1050 vmovmskps RlMv 1150 vmovmskpd RlMv
1051 vsqrtps 2 1151 vsqrtpd 2 1251 vsqrtss RxHxMd 1351 vsqrtsd RxHxMq
1052 vrsqrtps 2 1252 vrsqrtss RxHxMd 1053 vrcpps 2 1253 vrcpss RxHxMd
1054 vandps 3 1154 vandpd 3 1055 vandnps 3 1155 vandnpd 3 1056 vorps 3 1156 vorpd 3 1057 vxorps 3 1157 vxorpd 3
1058 vaddps 3 1158 vaddpd 3 1258 vaddss RxHxMd 1358 vaddsd RxHxMq
1059 vmulps 3 1159 vmulpd 3 1259 vmulss RxHxMd 1359 vmulsd RxHxMq
105a vcvtps2pd RvMh 115a vcvtpd2ps RhMv 125a vcvtss2sd RxHxMd 135a vcvtsd2ss RxHxMq
105bW1E vcvtqq2ps RhMv 105b vcvtdq2ps 2 115b vcvtps2dq 2 125b vcvttps2dq 2
105c vsubps 3 115c vsubpd 3 125c vsubss RxHxMd 135c vsubsd RxHxMq
105d vminps 3 115d vminpd 3 125d vminss RxHxMd 135d vminsd RxHxMq
105e vdivps 3 115e vdivpd 3 125e vdivss RxHxMd 135e vdivsd RxHxMq
105f vmaxps 3 115f vmaxpd 3 125f vmaxss RxHxMd 135f vmaxsd RxHxMq
1160 vpunpcklbw 3 1161 vpunpcklwd 3 1162 vpunpckldq 3 1163 vpacksswb 3
1164E vpcmpgtb RkHvMv 1165E vpcmpgtw RkHvMv 1166E vpcmpgtd RkHvMv 1164 vpcmpgtb 3 1165 vpcmpgtw 3 1166 vpcmpgtd 3
1167 vpackuswb 3 1168 vpunpckhbw 3 1169 vpunpckhwd 3 116a vpunpckhdq 3 116b vpackssdw 3 116c vpunpcklqdq 3 116d vpunpckhqdq 3
116eW0 vmovd RxMy 116eW1 vmovq RxMy
116fV vmovdqa 2 126fV vmovdqu 2 116fW0E vmovdqa32 2 116fW1E vmovdqa64 2 126fW0E vmovdqu32 2 126fW1E vmovdqu64 2 136fW0E vmovdqu8 2 136fW1E vmovdqu16 2
1170 vpshufd RvMvI 1270 vpshufhw RvMvI 1370 vpshuflw RvMvI
1171/2 vpsrlw HvMvI 1171/4 vpsraw HvMvI 1171/6 vpsllw HvMvI
1172/0E vpror@ HvMvI 1172/1E vprol@ HvMvI 1172/2 vpsrld HvMvI 1172/4W1E vpsraq HvMvI 1172/4 vpsrad HvMvI 1172/6 vpslld HvMvI
1173/2 vpsrlq HvMvI 1173/3 vpsrldq HvMvI 1173/6 vpsllq HvMvI 1173/7 vpslldq HvMvI
1174E vpcmpeqb RkHvMv 1175E vpcmpeqw RkHvMv 1176E vpcmpeqd RkHvMv 1174 vpcmpeqb 3 1175 vpcmpeqw 3 1176 vpcmpeqd 3
1077L0 vzeroupper - 1077L1 vzeroall -
1078E vcvttps2udq 2 1079E vcvtps2udq 2 127aW0E vcvtudq2pd RvMh 127aW1E vcvtuqq2pd 2 137aE vcvtudq2ps 2 127bE vcvtusi2ss RxHxMy 137bE vcvtusi2sd RxHxMy
1278E vcvttss2usi RyMd 1378E vcvttsd2usi RyMq 1279E vcvtss2usi RyMd 1379E vcvtsd2usi RyMq 117bW1E vcvtpd2qq 2 117aW1E vcvttpd2qq 2
117c vhaddpd 3 137c vhaddps 3 117d vhsubpd 3 137d vhsubps 3
117eW0 vmovd MyRx 117eW1 vmovq MyRx 127e vmovq RxMq
117fV vmovdqa S 127fV vmovdqu S 117fW0E vmovdqa32 S 117fW1E vmovdqa64 S 127fW0E vmovdqu32 S 127fW1E vmovdqu64 S 137fW0E vmovdqu8 S 137fW1E vmovdqu16 S
1090W0 kmovw RkMk 1190W0 kmovb RkMk 1090W1 kmovq RkMk 1190W1 kmovd RkMk 1091W0 kmovw MkRk 1191W0 kmovb MkRk 1091W1 kmovq MkRk 1191W1 kmovd MkRk
1092 kmovw RkMl 1192 kmovb RkMl 1392W0 kmovd RkMy 1392W1 kmovq RkMy 1093 kmovw RlMk 1193 kmovb RlMk 1393W0 kmovd RyMk 1393W1 kmovq RyMk
1098W0 kortestw RkMk 1198W0 kortestb RkMk 1098W1 kortestq RkMk 1198W1 kortestd RkMk 1099W0 ktestw RkMk 1199W0 ktestb RkMk 1099W1 ktestq RkMk 1199W1 ktestd RkMk
10ae/2 vldmxcsr Md 10ae/3 vstmxcsr Md
10c2E vcmp*ps RkHvMvI 11c2E vcmp*pd RkHvMvI 12c2E vcmp*ss RkHxMdI 13c2E vcmp*sd RkHxMqI
10c2 vcmp*ps RvHvMvI 11c2 vcmp*pd RvHvMvI 12c2 vcmp*ss RxHxMdI 13c2 vcmp*sd RxHxMqI
11c4R vpinsrw RxHxMlI 11c4M vpinsrw RxHxMwI 11c5 vpextrw RlMxI 10c6 vshufps RvHvMvI 11c6 vshufpd RvHvMvI
11d0 vaddsubpd 3 13d0 vaddsubps 3 11d1 vpsrlw RvHvMx 11d2 vpsrld RvHvMx 11d3 vpsrlq RvHvMx 11d4 vpaddq 3 11d5 vpmullw 3 11d6 vmovq MqRx 11d7 vpmovmskb RlMv
11d8 vpsubusb 3 11d9 vpsubusw 3 11da vpminub 3 11dbE vpand@ 3 11db vpand 3 11dc vpaddusb 3 11dd vpaddusw 3 11de vpmaxub 3 11dfE vpandn@ 3 11df vpandn 3
11e0 vpavgb 3 11e1 vpsraw RvHvMx 11e2W1E vpsraq RvHvMx 11e2 vpsrad RvHvMx 11e3 vpavgw 3 11e4 vpmulhuw 3 11e5 vpmulhw 3
11e6 vcvttpd2dq RhMv 12e6W1E vcvtqq2pd 2 12e6 vcvtdq2pd RvMh 13e6 vcvtpd2dq RhMv 11e7 vmovntdq S
11e8 vpsubsb 3 11e9 vpsubsw 3 11ea vpminsw 3 11ebE vpor@ 3 11eb vpor 3 11ec vpaddsb 3 11ed vpaddsw 3 11ee vpmaxsw 3 11efE vpxor@ 3 11ef vpxor 3
13f0 vlddqu 2 11f1 vpsllw RvHvMx 11f2 vpslld RvHvMx 11f3 vpsllq RvHvMx 11f4 vpmuludq 3 11f5 vpmaddwd 3 11f6 vpsadbw 3 11f7 vmaskmovdqu RxMx
11f8 vpsubb 3 11f9 vpsubw 3 11fa vpsubd 3 11fb vpsubq 3 11fc vpaddb 3 11fd vpaddw 3 11fe vpaddd 3
2100 vpshufb 3 2101 vphaddw 3 2102 vphaddd 3 2103 vphaddsw 3 2104 vpmaddubsw 3 2105 vphsubw 3 2106 vphsubd 3 2107 vphsubsw 3
2108 vpsignb 3 2109 vpsignw 3 210a vpsignd 3 210b vpmulhrsw 3 210c vpermilps 3 210d vpermilpd 3 210e vtestps 2 210f vtestpd 2
2110W1E vpsrlvw 3 2111W1E vpsravw 3 2112W1E vpsllvw 3 2113 vcvtph2ps RvMh 2114E vprorv@ 3 2115E vprolv@ 3 2116W1E vpermpd 3 2116 vpermps 3 2117 vptest 2
2118 vbroadcastss RvMd 2119W0E vbroadcastf32x2 RvMq 2119 vbroadcastsd RvMq 211aV vbroadcastf128 RvMx 211aW0E vbroadcastf32x4 RvMx 211aW1E vbroadcastf64x2 RvMx 211bW0E vbroadcastf32x8 RvMh 211bW1E vbroadcastf64x4 RvMh
211c vpabsb 2 211d vpabsw 2 211e vpabsd 2 211fE vpabsq 2
2120 vpmovsxbw RvMh 2121 vpmovsxbd RvMf 2122 vpmovsxbq RvMe 2123 vpmovsxwd RvMh 2124 vpmovsxwq RvMf 2125 vpmovsxdq RvMh
2126E vptestm% RkHvMv 2226E vptestnm% RkHvMv 2127E vptestm@ RkHvMv 2227E vptestnm@ RkHvMv
2128 vpmuldq 3 2228W0E vpmovm2b RvMk 2228W1E vpmovm2w RvMk 2229W0E vpmovb2m RkMv 2229W1E vpmovw2m RkMv 2238E vpmovm2@ RvMk 2239E vpmov@2m RkMv
2129E vpcmpeqq RkHvMv 2129 vpcmpeqq 3 212a vmovntdqa 2 212b vpackusdw 3 212cV vmaskmovps 3 212dV vmaskmovpd 3 212eV vmaskmovps MvHvRv 212fV vmaskmovpd MvHvRv
2130 vpmovzxbw RvMh 2131 vpmovzxbd RvMf 2132 vpmovzxbq RvMe 2133 vpmovzxwd RvMh 2134 vpmovzxwq RvMf 2135 vpmovzxdq RvMh
2230E vpmovwb MhRv 2231E vpmovdb MfRv 2232E vpmovqb MeRv 2233E vpmovdw MhRv 2234E vpmovqw MfRv 2235E vpmovqd MhRv
2136W1E vpermq 3 2136 vpermd 3 2137E vpcmpgtq RkHvMv 2137 vpcmpgtq 3 2138 vpminsb 3 2139E vpmins@ 3 2139 vpminsd 3 213a vpminuw 3 213bE vpminu@ 3 213b vpminud 3
213c vpmaxsb 3 213dE vpmaxs@ 3 213d vpmaxsd 3 213e vpmaxuw 3 213fE vpmaxu@ 3 213f vpmaxud 3 2140W1E vpmullq 3 2140 vpmulld 3 2141 vphminposuw 2
2144E vplzcnt@ 2 2145 vpsrlv@ 3 2146 vpsrav@ 3 2147 vpsllv@ 3 2150 vpdpbusd 3 2151 vpdpbusds 3 2152 vpdpwssd 3 2153 vpdpwssds 3 2154E vpopcnt% 2 2155E vpopcnt@ 2
2158 vpbroadcastd RvMd 2159W0E vbroadcasti32x2 RvMq 2159 vpbroadcastq RvMq 215aV vbroadcasti128 RvMx 215aW0E vbroadcasti32x4 RvMx 215aW1E vbroadcasti64x2 RvMx 215bW0E vbroadcasti32x8 RvMh 215bW1E vbroadcasti64x4 RvMh
2164E vpblendm@ 3 2165W0E vblendmps 3 2165W1E vblendmpd 3 2166E vpblendm% 3 2175E vpermi2% 3 2176E vpermi2@ 3 2177W0E vpermi2ps 3 2177W1E vpermi2pd 3 2178 vpbroadcastb RvMb 2179 vpbroadcastw RvMw
217aE vpbroadcastb RvMl 217bE vpbroadcastw RvMl 217cE vpbroadcast@ RvMy 217dE vpermt2% 3 217eE vpermt2@ 3 217fW0E vpermt2ps 3 217fW1E vpermt2pd 3
218bE vpcompress@ S 218dE vperm% 3 218cV vpmaskmov@ 3 218eV vpmaskmov@ MvHvRv
2190V vpgatherd@ RvGvHv 2191V vpgatherq@ RvGvHv 2192W0V vgatherdps RvGvHv 2192W1V vgatherdpd RvGvHv 2193W0V vgatherqps RvGvHv 2193W1V vgatherqpd RvGvHv
21b4E vpmadd52luq 3 21b5E vpmadd52huq 3 21c4E vpconflict@ 2 21cf vgf2p8mulb 3 21db vaesimc RxMx 21dc vaesenc 3 21dd vaesenclast 3 21de vaesdec 3 21df vaesdeclast 3
20f2 andn RyHyMy 20f3/1 blsr HyMy 20f3/2 blsmsk HyMy 20f3/3 blsi HyMy 20f5 bzhi RyMyHy 22f5 pext RyHyMy 23f5 pdep RyHyMy 23f6 mulx RyHyMy
20f7 bextr RyMyHy 21f7 shlx RyMyHy 22f7 sarx RyMyHy 23f7 shrx RyMyHy
3100 vpermq RvMvI 3101 vpermpd RvMvI 3102 vpblendd RvHvMvI 3103E valign@ RvHvMvI 3104 vpermilps RvMvI 3105 vpermilpd RvMvI 3106 vperm2f128 RvHvMvI
3108E vrndscaleps RvMvI 3109E vrndscalepd RvMvI 310aE vrndscaless RxHxMdI 310bE vrndscalesd RxHxMqI 3108 vroundps RvMvI 3109 vroundpd RvMvI 310a vroundss RxHxMdI 310b vroundsd RxHxMqI
310c vblendps RvHvMvI 310d vblendpd RvHvMvI 310e vpblendw RvHvMvI 310f vpalignr RvHvMvI
3114R vpextrb MlRxI 3114M vpextrb MbRxI 3115R vpextrw MlRxI 3115M vpextrw MwRxI 3116 vpextr@ MyRxI 3117R vextractps MlRxI 3117M vextractps MdRxI
3118V vinsertf128 RvHvMxI 3119V vextractf128 MxRvI 3118W0E vinsertf32x4 RvHvMxI 3118W1E vinsertf64x2 RvHvMxI 3119W0E vextractf32x4 MxRvI 3119W1E vextractf64x2 MxRvI
311aW0E vinsertf32x8 RvHvMhI 311aW1E vinsertf64x4 RvHvMhI 311bW0E vextractf32x8 MhRvI 311bW1E vextractf64x4 MhRvI 311d vcvtps2ph MhRvI
311eE vpcmp!u@ RkHvMvI 311fE vpcmp!@ RkHvMvI 3120R vpinsrb RxHxMlI 3120M vpinsrb RxHxMbI 3121 vinsertps RxHxMdI 3122 vpinsr@ RxHxMyI
3123W0E vshuff32x4 RvHvMvI 3123W1E vshuff64x2 RvHvMvI 3125E vpternlog@ RvHvMvI
3138V vinserti128 RvHvMxI 3139V vextracti128 MxRvI 3138W0E vinserti32x4 RvHvMxI 3138W1E vinserti64x2 RvHvMxI 3139W0E vextracti32x4 MxRvI 3139W1E vextracti64x2 MxRvI
313aW0E vinserti32x8 RvHvMhI 313aW1E vinserti64x4 RvHvMhI 313bW0E vextracti32x8 MhRvI 313bW1E vextracti64x4 MhRvI 313eE vpcmp!u% RkHvMvI 313fE vpcmp!% RkHvMvI
3140 vdpps RvHvMvI 3141 vdppd RxHxMxI 3142 vmpsadbw RvHvMvI 3143W0E vshufi32x4 RvHvMvI 3143W1E vshufi64x2 RvHvMvI 3144 vpclmulqdq RvHvMvI 3146 vperm2i128 RvHvMvI
315cW0V vfmaddsubps RvHvMvLv 315cW1V vfmaddsubps RvHvLvMv 315dW0V vfmaddsubpd RvHvMvLv 315dW1V vfmaddsubpd RvHvLvMv
315eW0V vfmsubaddps RvHvMvLv 315eW1V vfmsubaddps RvHvLvMv 315fW0V vfmsubaddpd RvHvMvLv 315fW1V vfmsubaddpd RvHvLvMv
3168W0V vfmaddps RvHvMvLv 3168W1V vfmaddps RvHvLvMv 3169W0V vfmaddpd RvHvMvLv 3169W1V vfmaddpd RvHvLvMv
316aW0V vfmaddss RxHxMdLx 316aW1V vfmaddss RxHxLxMd 316bW0V vfmaddsd RxHxMqLx 316bW1V vfmaddsd RxHxLxMq
316cW0V vfmsubps RvHvMvLv 316cW1V vfmsubps RvHvLvMv 316dW0V vfmsubpd RvHvMvLv 316dW1V vfmsubpd RvHvLvMv
316eW0V vfmsubss RxHxMdLx 316eW1V vfmsubss RxHxLxMd 316fW0V vfmsubsd RxHxMqLx 316fW1V vfmsubsd RxHxLxMq
3178W0V vfnmaddps RvHvMvLv 3178W1V vfnmaddps RvHvLvMv 3179W0V vfnmaddpd RvHvMvLv 3179W1V vfnmaddpd RvHvLvMv
317aW0V vfnmaddss RxHxMdLx 317aW1V vfnmaddss RxHxLxMd 317bW0V vfnmaddsd RxHxMqLx 317bW1V vfnmaddsd RxHxLxMq
317cW0V vfnmsubps RvHvMvLv 317cW1V vfnmsubps RvHvLvMv 317dW0V vfnmsubpd RvHvMvLv 317dW1V vfnmsubpd RvHvLvMv
317eW0V vfnmsubss RxHxMdLx 317eW1V vfnmsubss RxHxLxMd 317fW0V vfnmsubsd RxHxMqLx 317fW1V vfnmsubsd RxHxLxMq
314a vblendvps RvHvMvLv 314b vblendvpd RvHvMvLv 314c vpblendvb RvHvMvLv 3160 vpcmpestrm RxMxI 3161 vpcmpestri RxMxI 3162 vpcmpistrm RxMxI 3163 vpcmpistri RxMxI
31ce vgf2p8affineqb RvHvMvI 31cf vgf2p8affineinvqb RvHvMvI 31df vaeskeygenassist RxMxI 33f0 rorx RyMyI
3130W0 kshiftrb RkMkI 3130W1 kshiftrw RkMkI 3131W0 kshiftrd RkMkI 3131W1 kshiftrq RkMkI 3132W0 kshiftlb RkMkI 3132W1 kshiftlw RkMkI 3133W0 kshiftld RkMkI 3133W1 kshiftlq RkMkI
2196 vfmaddsub132p~ 3 2197 vfmsubadd132p~ 3 2198 vfmadd132p~ 3 2199 vfmadd132s~ 3s 219a vfmsub132p~ 3 219b vfmsub132s~ 3s 219c vfnmadd132p~ 3 219d vfnmadd132s~ 3s 219e vfnmsub132p~ 3 219f vfnmsub132s~ 3s
21a6 vfmaddsub213p~ 3 21a7 vfmsubadd213p~ 3 21a8 vfmadd213p~ 3 21a9 vfmadd213s~ 3s 21aa vfmsub213p~ 3 21ab vfmsub213s~ 3s 21ac vfnmadd213p~ 3 21ad vfnmadd213s~ 3s 21ae vfnmsub213p~ 3 21af vfnmsub213s~ 3s
21b6 vfmaddsub231p~ 3 21b7 vfmsubadd231p~ 3 21b8 vfmadd231p~ 3 21b9 vfmadd231s~ 3s 21ba vfmsub231p~ 3 21bb vfmsub231s~ 3s 21bc vfnmadd231p~ 3 21bd vfnmadd231s~ 3s 21be vfnmsub231p~ 3 21bf vfnmsub231s~ 3s
`

// moreTable lists instructions without such a prefix that package x86asm does not know, in
// the same form.
const moreTable = `
21f6 adcx RyMy 22f6 adox RyMy
20c8 sha1nexte RxMx 20c9 sha1msg1 RxMx 20ca sha1msg2 RxMx 20cb sha256rnds2 RxMx 20cc sha256msg1 RxMx 20cd sha256msg2 RxMx 30cc sha1rnds4 RxMxI
11ae/6M clwb Mb 11ae/7M clflushopt Mb 12ae/4 ptwrite My 12ae/5R incssp@ My 12ae/6R umonitor My 13ae/6R umwait My 12c7/7R rdpid My 121e/1R rdssp@ My
10c7/4M xsavec Mb 10ae/4M xsave Mb 10ae/5M xrstor Mb 20f9 movdiri MyRy 21cf gf2p8mulb RxMx 31ce gf2p8affineqb RxMxI 31cf gf2p8affineinvqb RxMxI
`

// vexOp is an entry of vexTable.
type vexOp struct {
	name, operands string
	reg            int8 // the field reg of ModRM, -1 for any
	w, l           int8 // bits W and L, -1 for any
	register       int8 // 1 for a register operand, 0 for memory, -1 for both
	evex           int8 // 1 for EVEX, 0 for VEX, -1 for both
}

// vexOps and moreOps are the entries of the tables by map<<12|pp<<8|opcode.
var (
	vexOps  = sync.OnceValue(func() map[int][]vexOp { return readTable(vexTable) })
	moreOps = sync.OnceValue(func() map[int][]vexOp { return readTable(moreTable) })
)

func readTable(table string) map[int][]vexOp {
	all := map[int][]vexOp{}
	words := strings.Fields(table)
	for i := 0; i+2 < len(words); i += 3 {
		code, _ := strconv.ParseInt(words[i][:4], 16, 32)
		op := vexOp{name: words[i+1], operands: words[i+2], reg: -1, w: -1, l: -1, register: -1, evex: -1}
		for k := words[i][4:]; k != ""; k = k[1:] {
			digit := func() int8 { k = k[1:]; return int8(k[0] - '0') }
			switch k[0] {
			case '/':
				op.reg = digit()
			case 'W':
				op.w = digit()
			case 'L':
				op.l = digit()
			case 'R':
				op.register = 1
			case 'M':
				op.register = 0
			case 'E':
				op.evex = 1
			case 'V':
				op.evex = 0
			}
		}
		switch op.operands {
		case "3":
			op.operands = "RvHvMv"
		case "3s":
			op.operands = "RxHxM~"
		case "2":
			op.operands = "RvMv"
		case "S":
			op.operands = "MvRv"
		case "-":
			op.operands = ""
		}
		all[int(code)] = append(all[int(code)], op)
	}
	return all
}

// predicates are the comparisons of vcmpps and its relatives, comparisons those of vpcmp
// and its relatives, by immediate byte.
var (
	predicates  = strings.Fields("eq lt le unord neq nlt nle ord eq_uq nge ngt false neq_oq ge gt true eq_os lt_oq le_oq unord_s neq_us nlt_uq nle_uq ord_s eq_us nge_uq ngt_uq false_os neq_os ge_oq gt_oq true_us")
	comparisons = strings.Fields("eq lt le - neq nlt nle -")
)
