import { hashOfText } from '../encoding/words.ts'

/** The first topic of every event that the simulated contracts log, made from its signature. */
export const TOPIC = {
  transfer: hashOfText('Transfer(address,address,uint256)'),
  transferWithOperatorData: hashOfText('Transfer(address,address,uint256,address,bytes,bytes)'),
  transferWithUserData: hashOfText('Transfer(address,address,uint256,address,bytes)'),
  update: hashOfText('Update(uint256,address,address,string)'),
  approve: hashOfText('Approve(address,address,uint256)'),
  approval: hashOfText('Approval(address,address,uint256)'),
  authorizeOperator: hashOfText('AuthorizeOperator(address,address,bool)'),
  approvalForAll: hashOfText('ApprovalForAll(address,address,bool)'),
  updateOperator: hashOfText('UpdateOperator(uint256,address)'),
  updateManager: hashOfText('UpdateManager(address,address,address,bool)'),
  upgrade: hashOfText('Upgrade(address,bytes)'),

  createEstate: hashOfText('CreateEstate(address,uint256,string)'),
  addLand: hashOfText('AddLand(uint256,uint256)'),
  removeLand: hashOfText('RemoveLand(uint256,uint256,address)'),

  auctionCreated: hashOfText('AuctionCreated(bytes32,uint256,address,uint256,uint256)'),
  auctionSuccessful: hashOfText('AuctionSuccessful(bytes32,uint256,address,uint256,address)'),
  auctionCancelled: hashOfText('AuctionCancelled(bytes32,uint256,address)'),
  orderCreated: hashOfText('OrderCreated(bytes32,uint256,address,address,uint256,uint256)'),
  orderSuccessful: hashOfText('OrderSuccessful(bytes32,uint256,address,address,uint256,address)'),
  orderCancelled: hashOfText('OrderCancelled(bytes32,uint256,address,address)'),

  bidCreated: hashOfText('BidCreated(bytes32,address,uint256,address,uint256,uint256,bytes)'),
  bidAccepted: hashOfText('BidAccepted(bytes32,address,uint256,address,address,uint256,uint256)'),
  bidCancelled: hashOfText('BidCancelled(bytes32,address,uint256,address)'),

  burn: hashOfText('Burn(address,uint256)'),
  tokenBurned: hashOfText('TokenBurned(uint256,address,uint256)'),
  bidSuccessful: hashOfText('BidSuccessful(uint256,address,address,uint256,uint256,int256[],int256[])'),

  newMortgage: hashOfText('NewMortgage(address,uint256,uint256,uint256)'),
  requestedMortgage: hashOfText(
    'RequestedMortgage(uint256,address,address,uint256,address,uint256,uint256,address)',
  ),
  readedOracle: hashOfText('ReadedOracle(address,bytes32,uint256,uint256)'),
  startedMortgage: hashOfText('StartedMortgage(uint256)'),
  canceledMortgage: hashOfText('CanceledMortgage(address,uint256)'),
  paidMortgage: hashOfText('PaidMortgage(address,uint256)'),
  updatedLandData: hashOfText('UpdatedLandData(address,uint256,string)'),
  defaultedMortgage: hashOfText('DefaultedMortgage(uint256)'),

  createdLoan: hashOfText('CreatedLoan(uint256,address,address)'),
  approvedBy: hashOfText('ApprovedBy(uint256,address)'),
  lent: hashOfText('Lent(uint256,address,address)'),
  partialPayment: hashOfText('PartialPayment(uint256,address,address,uint256)'),
  totalPayment: hashOfText('TotalPayment(uint256)'),
  destroyedBy: hashOfText('DestroyedBy(uint256,address)'),

  traded: hashOfText(tradedSignature('Traded(address,bytes32,')),
  tradedWithDigest: hashOfText(tradedSignature('Traded(address,bytes32,bytes32,')),
  signatureCancelled: hashOfText('SignatureCancelled(address,bytes32)'),
  contractSignatureIndexIncreased: hashOfText('ContractSignatureIndexIncreased(address,uint256)'),
  signerSignatureIndexIncreased: hashOfText('SignerSignatureIndexIncreased(address,uint256)'),
  paused: hashOfText('Paused(address)'),
  unpaused: hashOfText('Unpaused(address)'),

  assetRented: hashOfText(
    'AssetRented(address,uint256,address,address,address,uint256,uint256,bool,address,bytes)',
  ),
  assetClaimed: hashOfText('AssetClaimed(address,uint256,address)'),
  assetIndexUpdated: hashOfText('AssetIndexUpdated(address,address,uint256,uint256,address)'),
} as const

function tradedSignature(start: string): string {
  const checks =
    '(uint256,uint256,uint256,bytes32,uint256,uint256,bytes32,bytes32[],(address,bytes4,bytes,bool)[])'
  const asset = '(uint256,address,uint256,address,bytes)'
  return `${start}(address,bytes,${checks},${asset}[],${asset}[]))`
}
